-- Requests, tokens and credits charged, by key.
SELECT
  key_id,
  count(*) AS requests,
  sum(prompt_tokens + completion_tokens) AS tokens,
  sum(cost_nano) / 1e9 AS credits
FROM waybill_prod.usage
WHERE dt BETWEEN '2026-11-01' AND '2026-11-30'
GROUP BY key_id
ORDER BY credits DESC
