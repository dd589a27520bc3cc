-- Requests, tokens and credits charged, by model and the provider that answered.
SELECT
  model,
  provider,
  count(*) AS requests,
  sum(prompt_tokens) AS prompt_tokens,
  sum(completion_tokens) AS completion_tokens,
  sum(cost_nano) / 1e9 AS credits
FROM waybill_prod.usage
WHERE dt BETWEEN '2026-11-01' AND '2026-11-30' AND model IS NOT NULL
GROUP BY model, provider
ORDER BY credits DESC
