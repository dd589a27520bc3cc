import { type Bill, NO_BILL } from '../../domain/money/bill.ts'
import { moneyLiteral } from '../../wire/money/money-literal.ts'

type Usage = Record<string, unknown>

/** The billed counts in Anthropic's format: tokens that went through a cache are counted beside the input, not in it. */
export function messageUsage(bill: Bill): Usage {
  return { ...countsOf(bill), cost: moneyLiteral(bill.cost) }
}

export function usageOfWhole(bill: Bill): Usage {
  return { ...messageUsage(bill), ...detailsOf(bill) }
}

export function usageOfNone(): Usage {
  return { ...countsOf(NO_BILL), ...detailsOf(NO_BILL) }
}

function countsOf({ quantities, reasoning }: Bill): Usage {
  const { prompt, cached, cacheWrite, completion } = quantities
  return {
    input_tokens: prompt - cached - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    output_tokens_details: reasoning > 0 ? { thinking_tokens: reasoning } : null,
    server_tool_use: null,
  }
}

function detailsOf({ quantities: { cacheWrite, cacheWrite1h } }: Bill): Usage {
  return {
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWrite - cacheWrite1h,
      ephemeral_1h_input_tokens: cacheWrite1h,
    },
    inference_geo: null,
    service_tier: 'standard',
    speed: null,
  }
}
