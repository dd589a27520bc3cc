-- Charges less what the provider asks, by model, of the answers whose route says what it costs.
SELECT
  model,
  sum(cost_nano) / 1e9 AS credits,
  sum(upstream_cost_nano) / 1e9 AS cost_to_us,
  (sum(cost_nano) - sum(upstream_cost_nano)) / 1e9 AS margin
FROM waybill_prod.usage
WHERE dt BETWEEN '2026-11-01' AND '2026-11-30' AND upstream_cost_nano IS NOT NULL
GROUP BY model
ORDER BY margin
