-- The source of the graph, whether the answer is correct, and why the graph is private if it is.
CREATE FUNCTION how(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	checked record;
	why text;
BEGIN
	SELECT * INTO checked FROM emogi_check(query);
	IF NOT checked.ok THEN
		RETURN 'WRONG: ' || checked.differs;
	END IF;
	SELECT why_private INTO why FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
	RETURN checked.cache || coalesce(': ' || why, '');
END$$;
