import { formatCredits, type Nano } from '../../domain/money/money.ts'

/** Node has it since 22; TypeScript does not know it yet. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => object }

/** `JSON.stringify` writes it digit for digit: as a number 20 nanocredits would be `2e-8`, and a large sum rounded. */
export function moneyLiteral(credits: Nano): object {
  return rawJSON(formatCredits(credits))
}
