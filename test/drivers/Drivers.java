/*
 * Calls through pgjdbc, with every type of argument that it passes: java Drivers.java PORT USER PASSWORD
 *
 * Each line is one way to call; the last line is "Drivers.java: P passed, F failed".
 */
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Properties;
import java.util.TreeSet;

public class Drivers {
    private static final String URL = "jdbc:postgresql://127.0.0.1:%s/postgres";
    private static int passed, failed;

    /** Sets the parameters of a statement. */
    private interface Setter {
        void set(PreparedStatement statement) throws SQLException;
    }

    /** Get the vertices that a statement returns, ascending. A source that is passed as text gives vertices as text. */
    private static String vertices(PreparedStatement statement) throws SQLException {
        TreeSet<Long> result = new TreeSet<>();
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next())
                result.add(rows.getLong(1));
        }
        return result.toString().replaceAll("[\\[\\],]", "");
    }

    /** Note whether a call returns the vertices expected, four times over: prepared by the server on the way. */
    private static void check(Connection connection, String mode, String name, String sql, Setter setter, String expected) {
        String result = null;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < 4 && (result == null || result.equals(expected)); i++) {
                setter.set(statement);
                result = vertices(statement);
            }
        } catch (SQLException error) {
            result = error.getSQLState() + ": " + error.getMessage().split("\n")[0];
        }
        boolean ok = expected.equals(result);
        if (ok)
            passed++;
        else
            failed++;
        System.out.printf("    %-28s %-52s %s%n", "pgjdbc, " + mode, name, ok ? "ok" : "FAILED: " + result);
    }

    private static void checkAll(Connection connection, String mode, boolean untypedStrings) throws SQLException {
        String bfs = "SELECT vertex FROM emogi_bfs(?, ?) ORDER BY vertex";
        Array longs = connection.createArrayOf("bigint", new Long[] {1L, 42L});
        Array ints = connection.createArrayOf("integer", new Integer[] {1, null, 42});
        Array none = connection.createArrayOf("bigint", new Long[] {});

        check(connection, mode, "setInt", bfs, s -> { s.setString(1, "edges"); s.setInt(2, 42); }, "5 42");
        check(connection, mode, "setShort", bfs, s -> { s.setString(1, "edges"); s.setShort(2, (short) 42); }, "5 42");
        check(connection, mode, "setLong", bfs, s -> { s.setString(1, "edges"); s.setLong(2, 42); }, "5 42");
        check(connection, mode, "setString", bfs, s -> { s.setString(1, "edges"); s.setString(2, "42"); }, "5 42");
        check(connection, mode, "setString, array", bfs, s -> { s.setString(1, "edges"); s.setString(2, "{1,42}"); }, "1 2 5 7 42");
        check(connection, mode, "setObject, Integer", bfs, s -> { s.setObject(1, "edges"); s.setObject(2, 42); }, "5 42");
        check(connection, mode, "setObject, Long", bfs, s -> { s.setObject(1, "edges"); s.setObject(2, 42L); }, "5 42");
        check(connection, mode, "setObject, String", bfs, s -> { s.setObject(1, "edges"); s.setObject(2, "42"); }, "5 42");
        check(connection, mode, "setObject, OTHER", bfs, s -> { s.setObject(1, "edges", Types.OTHER); s.setObject(2, "42", Types.OTHER); }, "5 42");
        check(connection, mode, "setObject, BIGINT", bfs, s -> { s.setObject(1, "edges"); s.setObject(2, "42", Types.BIGINT); }, "5 42");
        check(connection, mode, "setObject, long[]", bfs, s -> { s.setString(1, "edges"); s.setObject(2, new long[] {1, 42}); }, "1 2 5 7 42");
        check(connection, mode, "setArray, bigint", bfs, s -> { s.setString(1, "edges"); s.setArray(2, longs); }, "1 2 5 7 42");
        check(connection, mode, "setArray, integer with NULL", bfs, s -> { s.setString(1, "edges"); s.setArray(2, ints); }, "1 2 5 7 42");
        check(connection, mode, "setArray, empty", bfs, s -> { s.setString(1, "edges"); s.setArray(2, none); }, "");
        check(connection, mode, "setNull, BIGINT", bfs, s -> { s.setString(1, "edges"); s.setNull(2, Types.BIGINT); }, "");
        check(connection, mode, "setNull, INTEGER", bfs, s -> { s.setString(1, "edges"); s.setNull(2, Types.INTEGER); }, "");
        check(connection, mode, "setNull, VARCHAR", bfs, s -> { s.setString(1, "edges"); s.setNull(2, Types.VARCHAR); }, "");
        check(connection, mode, "setNull, NULL", bfs, s -> { s.setString(1, "edges"); s.setNull(2, Types.NULL); }, "");
        check(connection, mode, "setNull, ARRAY", bfs, s -> { s.setString(1, "edges"); s.setNull(2, Types.ARRAY); }, "");
        check(connection, mode, "setObject, null", bfs, s -> { s.setString(1, "edges"); s.setObject(2, null); }, "");
        check(connection, mode, "cast", "SELECT vertex FROM emogi_bfs(?, ?::bigint) ORDER BY vertex", s -> { s.setString(1, "edges"); s.setString(2, "42"); }, "5 42");
        check(connection, mode, "literal graph", "SELECT vertex FROM emogi_bfs('edges', ?) ORDER BY vertex", s -> s.setInt(1, 42), "5 42");
        check(connection, mode, "regclass", "SELECT vertex FROM emogi_bfs('edges'::regclass, ?) ORDER BY vertex", s -> s.setInt(1, 42), "5 42");
        check(connection, mode, "regclass, String", "SELECT vertex FROM emogi_bfs(?::regclass, ?) ORDER BY vertex", s -> { s.setString(1, "edges"); s.setString(2, "42"); }, "5 42");
        check(connection, mode, "columns", "SELECT vertex FROM emogi_bfs(?, ?, columns => ?) ORDER BY vertex",
              s -> { s.setString(1, "edges"); s.setInt(2, 3); s.setString(3, "a, b"); }, "3 4");
        check(connection, mode, "all arguments", "SELECT vertex FROM emogi_bfs(?, ?, ?, ?) ORDER BY vertex",
              s -> { s.setString(1, "edges"); s.setInt(2, 1); s.setInt(3, 1); s.setString(4, "out"); }, "1 2");
        check(connection, mode, "all arguments, null", "SELECT vertex FROM emogi_bfs(?, ?, ?, ?) ORDER BY vertex",
              s -> { s.setString(1, "edges"); s.setInt(2, 1); s.setNull(3, Types.INTEGER); s.setNull(4, Types.VARCHAR); }, "1 2 7");
        check(connection, mode, "sssp", "SELECT vertex FROM emogi_sssp(?, ?, ?) ORDER BY vertex", s -> { s.setString(1, "edges"); s.setInt(2, 1); s.setDouble(3, 0.5); }, "1 2");
        check(connection, mode, "shortest_path, int", "SELECT vertex FROM emogi_shortest_path(?, ?, ?)", s -> { s.setString(1, "edges"); s.setInt(2, 1); s.setLong(3, 7); }, "1 2 7");
        check(connection, mode, "shortest_path, String", "SELECT vertex FROM emogi_shortest_path(?, ?, ?)", s -> { s.setString(1, "edges"); s.setString(2, "1"); s.setString(3, "7"); }, "1 2 7");
        check(connection, mode, "shortest_path, null", "SELECT vertex FROM emogi_shortest_path(?, ?, ?)", s -> { s.setString(1, "edges"); s.setInt(2, 1); s.setNull(3, Types.NULL); }, "");
        check(connection, mode, "cc", "SELECT vertex FROM emogi_cc(?) ORDER BY vertex", s -> s.setString(1, "edges"), "1 2 5 7 42");
        check(connection, mode, "pagerank", "SELECT vertex FROM emogi_pagerank(?, ?, ?) ORDER BY vertex", s -> { s.setString(1, "edges"); s.setDouble(2, 0.9); s.setInt(3, 20); }, "1 2 5 7 42");
        check(connection, mode, "heat", "SELECT vertex FROM emogi_heat(?, ?) ORDER BY vertex", s -> { s.setString(1, "edges"); s.setString(2, "VALUES (1, 1)"); }, "1 2 5 7 42");
        check(connection, mode, "estimate", "SELECT edges > 0 FROM emogi_estimate(?)".replace("edges > 0", "(edges > 0)::int"), s -> s.setString(1, "edges"), "1");
        if (untypedStrings)
            check(connection, mode, "shortest_path, String and int", "SELECT vertex FROM emogi_shortest_path(?, ?, ?)",
                  s -> { s.setString(1, "edges"); s.setString(2, "1"); s.setInt(3, 7); }, "1 2 7");
    }

    public static void main(String[] arguments) throws SQLException {
        String[][] modes = {
            {"default", ""}, {"prepareThreshold=1", "prepareThreshold=1"}, {"prepareThreshold=-1, binary", "prepareThreshold=-1"}, {"prepareThreshold=0", "prepareThreshold=0"},
            {"simple", "preferQueryMode=simple"}, {"extendedForPrepared", "preferQueryMode=extendedForPrepared"}, {"stringtype=unspecified", "stringtype=unspecified"}
        };
        for (String[] mode : modes) {
            Properties properties = new Properties();
            properties.setProperty("user", arguments[1]);
            properties.setProperty("password", arguments[2]);
            if (!mode[1].isEmpty())
                properties.setProperty(mode[1].split("=")[0], mode[1].split("=")[1]);
            try (Connection connection = DriverManager.getConnection(String.format(URL, arguments[0]), properties)) {
                checkAll(connection, mode[0], mode[1].startsWith("stringtype"));
            }
        }
        System.out.printf("Drivers.java: %d passed, %d failed%n", passed, failed);
    }
}
