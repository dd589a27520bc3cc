import { styleText } from 'node:util'
import { CHAT } from './chat.ts'

// The client of the picture: `node race.ts 200` sends 200 chats at once, and prints each status when it comes.

const { WAYBILL_URL, WAYBILL_KEY } = process.env
const IN_A_LINE = 20
const statuses: number[] = []

await Promise.all(Array.from({ length: Number(process.argv[2]) }, ask))
const count = (wanted: number) => statuses.filter((status) => status === wanted).length
console.log(`\n${painted(200)} OK × ${count(200)}    ${painted(402)} Payment Required × ${count(402)}`)

async function ask(): Promise<void> {
  const response = await fetch(`${WAYBILL_URL}/v1/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${WAYBILL_KEY}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(CHAT),
  })
  await response.text()
  statuses.push(response.status)
  process.stdout.write(`${painted(response.status)}${statuses.length % IN_A_LINE === 0 ? '\n' : ' '}`)
}

function painted(status: number): string {
  return styleText(status === 200 ? ['bgGreen', 'black'] : 'yellow', String(status), { validateStream: false })
}
