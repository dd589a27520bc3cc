import type { Stack } from '@aws-sdk/client-cloudformation'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { OUTPUTS, stackName } from '../../layers/gateway/names.ts'
import { deployOf, SETTINGS_FILE } from '../../layers/terminal/how-to-run.ts'
import { ADOPTED_TAG, type Stage } from '../stages.ts'
import { failed, type Outcome, ok, outputOf, type Plan } from './check.ts'

/** A stack in such a state has no resources; CDK deletes it and makes it anew. */
const WITHOUT_RESOURCES = /^(ROLLBACK_COMPLETE|REVIEW_IN_PROGRESS|DELETE_COMPLETE)$/

type TableNames = NonNullable<Stage['tableNames']>

/** Looks for tables that outlived their stack: the next deployment adopts them if its settings have their names. */
export async function lookForTables({ aws, stage }: Plan): Promise<Outcome> {
  const { name, tableNames: names, rollout } = stage
  if (!stage.keepsData) return ok('the stage keeps none when it is destroyed')
  const stack = await aws.stack(stackName(name))
  const isRunning = stack && !WITHOUT_RESOURCES.test(stack.StackStatus ?? '')
  const judged = isRunning ? judgeRunning(stack, names) : undefined
  if (judged) return judged
  // For half an hour of a canary, one key could spend from both tables.
  if (isRunning && rollout === 'canary') {
    return failed(
      'the stage would have two tables of keys while both versions of its functions run',
      `Set "rollout": "at-once" under "${name}" in ${SETTINGS_FILE} for this deployment.`,
    )
  }
  const tables = await aws.tables()
  return names ? judgeNamed(names, tables) : judgeKept(name, tables)
}

/**
 * CloudFormation makes another, empty table if a table's name is removed, or if one is added that no table has. Undefined
 * if the stage is to go on with others than its own.
 */
function judgeRunning(stack: Stack, names: TableNames | undefined): Outcome | undefined {
  const own = { keys: outputOf(stack, OUTPUTS.keysTable), usage: outputOf(stack, OUTPUTS.usageTable) }
  const isAdopted = stack.Tags?.some(({ Key }) => Key === ADOPTED_TAG) === true
  const isSame = names ? isAdopted && names.keys === own.keys && names.usage === own.usage : !isAdopted
  if (isSame) return ok(`the stage has ${own.keys} and ${own.usage}`)
  if (names && (isAdopted || (names.keys !== own.keys && names.usage !== own.usage))) return undefined
  const right = isAdopted ? `be ${JSON.stringify(own)}, and its answers` : 'not be there'
  return failed(
    'the stage would lose its tables, and go on with empty ones',
    `"tableNames" in ${SETTINGS_FILE} has to ${right}, for as long as the stack is there.`,
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

function judgeKept(stage: string, tables: readonly string[]): Outcome {
  // CDK's name of a table, before CloudFormation adds a suffix.
  const kept = (id: string) => tables.filter((it) => it.startsWith(`${stackName(stage)}-Tables${id}`))
  const [allKeys, allUsage, allAnswers] = [kept('Keys'), kept('Usage'), kept('Answers')]
  if (allKeys.length + allUsage.length === 0) return ok('no earlier stack of the stage has left any')
  const [[keys], [usage], [answers]] = [allKeys, allUsage, allAnswers]
  const isPlain = keys && usage && [allKeys, allUsage, allAnswers].every(({ length }) => length <= 1)
  const setting = isPlain
    ? `put "tableNames": ${JSON.stringify({ keys, usage, answers })} under "${stage}" in ${SETTINGS_FILE}`
    : `put those that belong together as "tableNames" under "${stage}" in ${SETTINGS_FILE} (keys and usage, and answers if there are)`
  return failed(
    `an earlier stack has left ${[...allKeys, ...allUsage, ...allAnswers].join(', ')}, and a deployment would begin with empty ones`,
    `To use them again, ${setting}, keep it there, and run '${deployOf(shellWord(stage))}'.`,
  )
}
