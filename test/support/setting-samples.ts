import type { Setting } from '../../layers/gateway/domain/keys/key-settings.ts'

/** A value of each setting that is not its default: as somebody types it, as the admin API has it, and in a key. */
export const SETTING_SAMPLES: Readonly<Record<Setting, { typed: string; told: unknown; kept?: unknown }>> = {
  name: { typed: ' full ', told: 'full' },
  rpm: { typed: '7', told: 7 },
  dailyLimit: { typed: '70', told: 70 },
  maxConcurrent: { typed: '3', told: 3 },
  lanes: { typed: '2', told: 2 },
  dailyCredits: { typed: ' 2.50 ', told: '2.5', kept: 2_500_000_000n },
  monthlyCredits: { typed: '30', told: '30', kept: 30_000_000_000n },
  dailyLoss: { typed: '0.25', told: '0.25', kept: 250_000_000n },
  tpm: { typed: '5000', told: 5000 },
  notifyBelow: { typed: '1.5', told: '1.5', kept: 1_500_000_000n },
  scopes: { typed: 'chat.completions', told: ['chat.completions'] },
  models: { typed: 'echo, test-*', told: ['echo', 'test-*'] },
  allowlist: { typed: '127.0.0.0/8, 10.0.0.0/8', told: ['127.0.0.0/8', '10.0.0.0/8'] },
  plan: { typed: 'gold', told: 'gold' },
  externalId: { typed: 'cus_full', told: 'cus_full' },
  expiresAtMs: { typed: '2999-01-01', told: '2999-01-01T00:00:00.000Z', kept: Date.parse('2999-01-01') },
  note: { typed: ' pays monthly ', told: 'pays monthly' },
}
