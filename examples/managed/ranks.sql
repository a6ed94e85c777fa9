-- A scheduled job on the server with emogi: ranks of all accounts, written back to the managed server.
BEGIN;
DELETE FROM payment_rank;
INSERT INTO payment_rank SELECT vertex, rank FROM emogi_pagerank('payment(payer, receiver)');
COMMIT;
