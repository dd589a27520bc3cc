import type { Stack } from '@aws-sdk/client-cloudformation'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { OUTPUTS, stackName } from '../../layers/gateway/names.ts'
import { deployOf, SETTINGS_FILE } from '../../layers/terminal/how-to-run.ts'
import { ADOPTED_TAG, type Stage } from '../stages.ts'
import type { Aws } from './aws.ts'
import { type Check, failed, type Outcome, ok } from './check.ts'

/** A stack in such a state has no resources; CDK deletes it and makes it anew. */
const WITHOUT_RESOURCES = /^(ROLLBACK_COMPLETE|REVIEW_IN_PROGRESS|DELETE_COMPLETE)$/

/** CDK's names of a stack's tables, before CloudFormation adds a suffix. */
const KINDS = { keys: 'TablesKeys', usage: 'TablesUsage', answers: 'TablesAnswers' }
type Kind = keyof typeof KINDS

/** Tables that outlived their stack: the next deployment adopts them if its settings have their names. */
export const KEPT_TABLES: Check = {
  name: 'tables',
  right: 'dynamodb:ListTables',
  async look({ aws, stage }) {
    if (!stage.keepsData) return ok('the stage keeps none when it is destroyed')
    const stack = await aws.stack(stackName(stage.name))
    if (stack && !WITHOUT_RESOURCES.test(stack.StackStatus ?? '')) return judgeRunning(aws, stack, stage)
    const tables = await listTables(aws)
    return stage.tableNames ? judgeNamed(stage.tableNames, tables) : judgeKept(stage, tables)
  },
}

type TableNames = NonNullable<Stage['tableNames']>

/** CloudFormation makes another, empty table if a table's name is removed, or if one is added that no table has. */
async function judgeRunning(aws: Aws, stack: Stack, stage: Stage): Promise<Outcome> {
  const { Outputs = [], Tags = [] } = stack
  const { tableNames: names } = stage
  const nameOf = (output: string) => Outputs.find(({ OutputKey }) => OutputKey === output)?.OutputValue
  const own = { keys: nameOf(OUTPUTS.keysTable), usage: nameOf(OUTPUTS.usageTable) }
  const isAdopted = Tags.some(({ Key }) => Key === ADOPTED_TAG)
  const isSame = names ? isAdopted && names.keys === own.keys && names.usage === own.usage : !isAdopted
  if (isSame) return ok(`the stage has ${own.keys} and ${own.usage}`)
  const isOther = names && (isAdopted || (names.keys !== own.keys && names.usage !== own.usage))
  if (isOther) return judgeOthers(stage, names, await listTables(aws))
  const right = isAdopted ? `be ${JSON.stringify(own)}, and its answers` : 'not be there'
  return failed(
    'the stage would lose its tables, and go on with empty ones',
    `"tableNames" in ${SETTINGS_FILE} has to ${right}, for as long as the stack is there.`,
  )
}

/** For half an hour of a canary, one key could spend from both tables. */
function judgeOthers({ name, rollout }: Stage, names: TableNames, tables: readonly string[]): Outcome {
  if (rollout === 'at-once') return judgeNamed(names, tables)
  return failed(
    'the stage would have two tables of keys while both versions of its functions run',
    `Set "rollout": "at-once" under "${name}" in ${SETTINGS_FILE} for this deployment.`,
  )
}

function judgeNamed(names: TableNames, tables: readonly string[]): Outcome {
  const wanted = Object.values(names).filter((name) => name !== undefined)
  const missing = wanted.filter((name) => !tables.includes(name))
  if (missing.length === 0) return ok(`the deployment takes up ${wanted.join(', ')}`)
  return failed(
    `there is no table ${missing.join(' and no ')}, which tableNames says is there`,
    `Look at the region and at "tableNames" in ${SETTINGS_FILE}: the deployment would make it, and it would be empty.`,
  )
}

function judgeKept({ name }: Stage, tables: readonly string[]): Outcome {
  const kept = (kind: Kind) => tables.filter((it) => it.startsWith(`${stackName(name)}-${KINDS[kind]}`))
  const found = { keys: kept('keys'), usage: kept('usage'), answers: kept('answers') }
  const all = Object.values(found).flat()
  if (found.keys.length === 0 && found.usage.length === 0) return ok('no earlier stack of the stage has left any')
  const [keys, usage] = [found.keys[0], found.usage[0]]
  const isPlain = keys && usage && Object.values(found).every(({ length }) => length <= 1)
  const names = isPlain ? { keys, usage, ...(found.answers[0] && { answers: found.answers[0] }) } : undefined
  const setting = names
    ? `put "tableNames": ${JSON.stringify(names)} under "${name}" in ${SETTINGS_FILE}`
    : `put those that belong together as "tableNames" under "${name}" in ${SETTINGS_FILE} (keys and usage, and answers if there are)`
  return failed(
    `an earlier stack has left ${all.join(', ')}, and a deployment would begin with empty ones`,
    `To use them again, ${setting}, keep it there, and run '${deployOf(shellWord(name))}'.`,
  )
}

async function listTables(aws: Aws): Promise<string[]> {
  const names: string[] = []
  let after: string | undefined
  do {
    const json = JSON.stringify(after === undefined ? {} : { ExclusiveStartTableName: after })
    const text = await aws.ask('dynamodb', { path: '/', json, target: 'DynamoDB_20120810.ListTables' })
    const page = JSON.parse(text) as { TableNames?: string[]; LastEvaluatedTableName?: string }
    names.push(...(page.TableNames ?? []))
    after = page.LastEvaluatedTableName
  } while (after !== undefined)
  return names
}
