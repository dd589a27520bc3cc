import { FREE_BETAS, LEFT_OUT_BETAS } from '../../layers/gateway/contracts/messages/betas.ts'
import { COVERAGE, ENDINGS, EVENTS, type Outcome } from './coverage-table.ts'

// Writes docs/coverage.md.

const WORDS: Readonly<Record<Outcome, string>> = {
  p: 'passed',
  t: 'translated',
  o: 'left out',
  n: 'not needed',
  r: '400',
}

const TITLES: Readonly<Record<keyof typeof COVERAGE, string>> = {
  chat: 'Chat completions',
  responses: 'Responses',
  messages: 'Messages',
}

const GROUPS: Readonly<Record<string, string>> = {
  field: 'Fields',
  message: 'Messages by role',
  part: 'Content parts',
  tool: 'Tools',
  choice: 'Tool choices',
  item: 'Input items',
  block: 'Content blocks',
  result: 'Content of tool results',
}

const INTRODUCTION = `# Coverage

What Waybill does with every field, item, content part, tool, event and stop reason that OpenAI's and Anthropic's newest SDKs define. \`npm run schema\` writes this page. A test sends each name to each kind of provider and compares.

- **passed**: the provider gets it unchanged.
- **translated**: the provider gets the same in its own API format, and the response comes back in yours.
- **left out**: the provider doesn't get it, and \`X-Svc-Dropped-Fields\` and the usage record name it.
- **not needed**: Waybill reads it itself, or the response is the same without it.
- **400**: the response would be a different one, or the value names something stored at a provider.

Tools that a provider runs, such as \`web_search\`, pass only where [the catalog has a price](catalog.md) for their calls. Elsewhere they are left out.
`

function tableOf(rows: Readonly<Record<string, string>>): string {
  const lines = Object.entries(rows).map(([name, outcomes]) => {
    const cells = Array.from(outcomes, (outcome) => WORDS[outcome as Outcome])
    return `| \`${name}\` | ${cells.join(' | ')} |`
  })
  return ['| | chat | Responses | Anthropic | Bedrock |', '|---|---|---|---|---|', ...lines].join('\n')
}

const list = (names: Iterable<string>) => Array.from(names, (name) => `\`${name}\``).join(', ')

function sectionOf(format: keyof typeof COVERAGE): string {
  const groups = Object.entries(COVERAGE[format]).map(
    ([group, rows]) => `### ${TITLES[format]}: ${GROUPS[group]?.toLowerCase()}\n\n${tableOf(rows)}`,
  )
  const events = Object.entries(EVENTS[format as keyof typeof EVENTS] ?? {}).map(
    ([what, names]) => `- **${what}**: ${list(names)}`,
  )
  const endings = Object.entries(ENDINGS[format]).map(([theirs, ours]) => `| \`${theirs}\` | \`${ours}\` |`)
  return [
    `## ${TITLES[format]}`,
    ...groups,
    ...(events.length > 0 ? [`### ${TITLES[format]}: stream events\n\n${events.join('\n')}`] : []),
    [`### ${TITLES[format]}: stop reasons\n\n| reason | in chat completions |`, '|---|---|', ...endings].join('\n'),
  ].join('\n\n')
}

const ANTHROPIC_BETA = 'Values of anthropic-beta'
const CONTENTS = [...Object.values(TITLES), ANTHROPIC_BETA]
  .map((title) => `[${title}](#${title.toLowerCase().replaceAll(' ', '-')})`)
  .join(' · ')

const BETAS = `## ${ANTHROPIC_BETA}

Waybill forwards those that cost nothing to Anthropic, whatever their date: ${list(FREE_BETAS)}.

The others are left out: ${list(LEFT_OUT_BETAS)}. \`fast-mode\` goes with \`speed: "fast"\`, where the catalog has its price.
`

export function coveragePage(): string {
  const sections = (Object.keys(COVERAGE) as (keyof typeof COVERAGE)[]).map(sectionOf)
  return `${[INTRODUCTION.trimEnd(), CONTENTS, ...sections, BETAS.trimEnd()].join('\n\n')}\n`
}
