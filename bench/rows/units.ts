import { writeUnits } from '../bill/item-size.ts'
import { keyItemBytes } from '../bill/key-item-bytes.ts'
import { PRICES } from '../bill/prices.ts'
import type { RowGroup } from '../row.ts'
import { dollars, markdownTable, whole } from '../words.ts'

const OPEN = [0, 8, 25, 50, 100, 200, 1_000]
const IN_THE_TABLE = [8, 25, 100, 200]

/** The most write units of one item in a second. */
const UNITS_A_SECOND = 1_000
/** Admission and settlement. */
const KEY_WRITES = 2

/** The cost of an admission in DynamoDB: the key's item carries its open requests, and is written whole. */
export const units: RowGroup = {
  name: 'units',
  async measure(stand) {
    stand.say(`units: keys with up to ${OPEN.at(-1)} open requests`)
    const endpoint = await stand.dynamodb()
    const sizes = await Promise.all(OPEN.map((open) => keyItemBytes(open, endpoint)))
    const rates = OPEN.map((open, i) => {
      const bytes = sizes[i] ?? Number.NaN
      const perRequest = KEY_WRITES * writeUnits(bytes)
      return { open, bytes, perWrite: writeUnits(bytes), perRequest, perSecond: UNITS_A_SECOND / perRequest }
    })
    const shown = rates.filter(({ open }) => IN_THE_TABLE.includes(open))
    return {
      rows: [
        {
          what: `write units of an admission with ${IN_THE_TABLE.join(' / ')} open requests on the key`,
          waybill: shown.map(({ perWrite }) => perWrite).join(' / '),
        },
      ],
      blocks: {
        rates: markdownTable(
          [
            'open requests of the key',
            'bytes of its item',
            'write units a write',
            'a request',
            'requests a second',
            '$ a million',
          ],
          rates.map(({ open, bytes, perWrite, perRequest, perSecond }) => [
            whole(open),
            whole(bytes),
            whole(perWrite),
            whole(perRequest),
            whole(Math.floor(perSecond)),
            dollars(perRequest * PRICES.dynamodbWrite.dollars),
          ]),
        ),
      },
    }
  },
}
