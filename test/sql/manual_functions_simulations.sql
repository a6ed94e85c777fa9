-- The examples of docs/functions/simulations.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions_simulations;
SET search_path = test_manual_functions_simulations, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE door (src int, dst int, weight float8);
INSERT INTO door VALUES (1, 2, 0.2), (2, 3, 0.1), (3, 4, 0.2);
SELECT steps, array_agg(round(value::numeric, 1) ORDER BY vertex) AS degrees
FROM unnest(ARRAY[1, 10, 100]) AS steps,
     emogi_heat('door', 'VALUES (1, 100)', max_iterations => steps, tolerance => 0)
GROUP BY steps ORDER BY steps;

CREATE TABLE resistor (a int, b int, ohm float8);
INSERT INTO resistor VALUES (1, 2, 1), (1, 3, 2), (2, 3, 2), (2, 4, 2), (3, 4, 1);
CREATE VIEW voltage AS
    SELECT * FROM emogi_circuit('SELECT a, b, 1 / ohm FROM resistor', 'VALUES (1, 9), (4, 0)');
SELECT vertex, round(value::numeric, 3) AS volts FROM voltage;

SELECT a, b, round(((v.value - w.value) / ohm)::numeric, 3) AS amperes
FROM resistor JOIN voltage v ON v.vertex = a JOIN voltage w ON w.vertex = b
ORDER BY a, b;

CREATE TABLE pattern (neuron int, sign int);
INSERT INTO pattern VALUES (1, 1), (2, -1), (3, 1), (4, 1), (5, -1);
CREATE TABLE synapse AS
    SELECT a.neuron AS src, b.neuron AS dst, 0.5 * a.sign * b.sign AS weight
    FROM pattern a JOIN pattern b ON a.neuron <> b.neuron;
SELECT vertex AS neuron, round(value::numeric, 2) AS activation
FROM emogi_neural('synapse', 'VALUES (1, 1), (2, -1), (3, -1)');
