# shellcheck shell=bash
# Tests of kind `site` of test/run: the web site of the manual, and the errors detected by
# packaging/site/check. Sourced, not run.

install_for_site() { install_missing python3-venv && timeout 300 "$ROOT/packaging/site/build" --install; }

# Check a site of two pages, the first with the given text. Succeed if the message is the expected
# one, or if none is expected and there is none.
site_check_says() {
    local complaint=$1 text=$2 folder=$WORK/small-site said status=0
    mkdir -p "$folder/docs" && echo "<p id='here'>$text</p>" >"$folder/index.html" &&
        echo '<p id="there"></p>' >"$folder/docs/other.html" || return
    said=$("$ROOT/packaging/site/check" "$folder") || status=$?
    if [ -z "$complaint" ]; then [ $status = 0 ]; else [ $status = 1 ] && [ "$said" = "index.html: $complaint" ]; fi && return
    echo "packaging/site/check says of $text: $said"
    return 1
}

run_site() {
    local ok=0 bad=0
    site_case() { if "$@"; then ok=$((ok + 1)); else bad=$((bad + 1)); fi; }
    site_case site_check_says '' '<a href="docs/other.html#there">to</a> <a href="#here"></a> <a href="https://example.org/">'
    site_case site_check_says 'there is no docs/none.html' '<a href="docs/none.html">to</a>'
    site_case site_check_says 'there is no ../none.html' '<a href="../none.html">to</a>'
    site_case site_check_says 'there is no anchor docs/other.html#here' '<a href="docs/other.html#here">to</a>'
    site_case site_check_says 'there is no none.svg' '<img src="none.svg">'
    site_case site_check_says 'two elements are #here' '<b id="here"></b>'
    site_case site_check_says 'loads https://example.org/a.js' '<script src="https://example.org/a.js"></script>'
    site_case site_check_says 'loads //example.org/a.css' '<link href="//example.org/a.css" rel="stylesheet">'
    if install_or_skip 'the web site itself' install_for_site; then
        site_case step 'Build the web site of the manual' timeout 600 "$ROOT/packaging/site/build" "$WORK/site"
    fi
    add site $ok $bad
}
