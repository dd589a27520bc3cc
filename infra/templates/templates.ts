import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'
import * as cdk from 'aws-cdk-lib'
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { stackName } from '../../layers/gateway/names.ts'
import type { StageName, WaybillProps } from '../props.ts'
import { US_EAST_1 } from '../regions.ts'
import { LOG_DAYS, MAY_COME_LATER } from '../setting-table.ts'
import { numberRange } from '../settings.ts'
import { pascal, reservedBy, STAGE_NAMES, stageOf } from '../stages.ts'
import { Waybill } from '../waybill.ts'

const BUCKET = 'CodeBucket'

/** Files by name, for those without CDK: a template of each stage, and the code, which they put into a bucket of theirs. */
export function releaseFiles(version: string): Map<string, Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-templates-'))
  try {
    const { context } = cdkJson
    const app = new cdk.App({ outdir: folder, context, analyticsReporting: false, treeMetadata: false })
    // There, all of a stage is in one stack.
    process.env.CDK_DEFAULT_REGION = US_EAST_1
    for (const stage of STAGE_NAMES) addStack(app, stage as StageName, version)
    const stacks = app.synth().stacks
    const templates = stacks.map(({ stackName: name, template }): [string, Buffer] => [
      `${name.toLowerCase()}.template.json`,
      Buffer.from(JSON.stringify(withoutUnused(template), null, 1)),
    ])
    const code = new Map(stacks.flatMap(({ stackName: name }) => codeOf(folder, name)))
    const archives = [...code].map(([name, place]) => ({ name, data: zip(filesIn(place)) }))
    return new Map([...templates, ['waybill-code.zip', zip(archives.toSorted((a, b) => (a.name < b.name ? -1 : 1)))]])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function addStack(app: cdk.App, stage: StageName, version: string): void {
  const stack = new cdk.Stack(app, stackName(stage), {
    description: `Waybill ${version} ${stage}, for a stack called ${stackName(stage)} in ${US_EAST_1}`,
    synthesizer: new cdk.DefaultStackSynthesizer({
      fileAssetsBucketName: `\${${BUCKET}}`,
      bucketPrefix: `waybill/${version}/`,
      generateBootstrapVersionRule: false,
    }) as cdk.IStackSynthesizer,
  })
  new cdk.CfnRule(stack, 'Region').addAssertion(
    cdk.Fn.conditionEquals(cdk.Aws.REGION, US_EAST_1),
    `This template is for ${US_EAST_1}. Other regions need stacks there, too, which the CDK makes.`,
  )
  const description = 'The bucket into which the content of waybill-code.zip was copied'
  new cdk.CfnParameter(stack, BUCKET, { description })
  new Waybill(stack, 'Default', { stage, ...addParameters(stack, stage) })
  for (const name of Object.keys(reservedBy(stageOf(stage)))) addConcurrency(stack, pascal(name))
  cdk.Validations.of(stack).acknowledge({
    id: 'CloudFormation-Validate::W2001',
    reason: 'Parameters that nothing refers to are left out of the file.',
  })
}

/** The settings that a template leaves to its deployment: the numbers that have a default, and who gets the alarms. */
function addParameters(stack: cdk.Stack, stage: StageName): Partial<WaybillProps> {
  const defaults: Readonly<Record<string, unknown>> = { ...stageOf(stage) }
  const numbers = MAY_COME_LATER.filter((name) => typeof defaults[name] === 'number').map((name) => {
    const limits = name === 'logRetentionDays' ? { allowedValues: LOG_DAYS.map(String) } : numberRange(name)
    const description = `The setting ${name}, as docs/deploy.md has it`
    const numeric = { type: 'Number', default: defaults[name], description, ...limits }
    return [name, new cdk.CfnParameter(stack, pascal(name), numeric).valueAsNumber]
  })
  const alarmEmail = new cdk.CfnParameter(stack, 'AlarmEmail', {
    description: 'The setting alarmEmail: the address that gets the alarms',
    allowedPattern: '[^@ ]+@[^@ ]+',
  })
  return { ...Object.fromEntries(numbers), alarmEmail: alarmEmail.valueAsString }
}

/** How many executions Lambda reserves for a function. A new account has none to reserve. */
function addConcurrency(stack: cdk.Stack, name: string): void {
  const made = stack.node.findChild('Default').node.findChild('Functions').node.findChild(name).node.defaultChild
  const fn = made as CfnFunction
  const parameter = new cdk.CfnParameter(stack, `${name}Concurrency`, {
    type: 'Number',
    default: fn.reservedConcurrentExecutions ?? 0,
    minValue: 0,
    description: `The executions that Lambda reserves for the function ${name}; 0 reserves none`,
  })
  const expression = cdk.Fn.conditionNot(cdk.Fn.conditionEquals(parameter.valueAsString, '0'))
  const { logicalId } = new cdk.CfnCondition(stack, `Reserves${name}`, { expression })
  fn.reservedConcurrentExecutions = cdk.Token.asNumber(
    cdk.Fn.conditionIf(logicalId, parameter.valueAsString, cdk.Aws.NO_VALUE),
  )
}

type Template = { readonly Parameters: Readonly<Record<string, unknown>> }

/** The settings of parts that the stage does not have need no parameter. */
function withoutUnused<T extends Template>({ Parameters, ...rest }: T) {
  const text = JSON.stringify(rest)
  const isUsed = (name: string) => text.includes(`{"Ref":"${name}"}`) || text.includes(`\${${name}}`)
  return { Parameters: Object.fromEntries(Object.entries(Parameters).filter(([name]) => isUsed(name))), ...rest }
}

type Files = Readonly<Record<string, { source: { path: string; packaging: string }; destinations: Destinations }>>
type Destinations = Readonly<Record<string, { readonly objectKey: string }>>

function codeOf(folder: string, stack: string): [name: string, place: string][] {
  const { files } = JSON.parse(readFileSync(join(folder, `${stack}.assets.json`), 'utf8')) as { files: Files }
  return Object.values(files).flatMap(({ source: { path, packaging }, destinations }) => {
    if (packaging !== 'zip') return []
    return Object.values(destinations).map(({ objectKey }): [string, string] => [objectKey, join(folder, path)])
  })
}

function filesIn(folder: string): Entry[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  const files = names.filter((name) => statSync(join(folder, name)).isFile())
  return files.map((name) => ({ name: name.replaceAll('\\', '/'), data: readFileSync(join(folder, name)) }))
}

export type Entry = { readonly name: string; readonly data: Buffer }

const VERSION = 20
const UTF8_NAMES = 0x0800
const DEFLATED = 8
/** The first day that the format knows, so that the same files always make the same archive. */
const DATE = 0x0021
/** A file that everybody may read: Lambda runs the code as another user. */
const MODE = (0o100644 << 16) >>> 0
const MADE_BY_UNIX = 0x0314

/** An archive of these files, by PKWARE's APPNOTE.TXT 4.3; for less than 4 GiB and 65,536 files. */
export function zip(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, data } of entries) {
    const [path, packed] = [Buffer.from(name), deflateRawSync(data, { level: 9 })]
    const facts = words(2, UTF8_NAMES, DEFLATED, 0, DATE)
    const sizes = Buffer.concat([words(4, crc32(data), packed.length, data.length), words(2, path.length, 0)])
    const local = Buffer.concat([words(4, 0x04034b50), words(2, VERSION), facts, sizes, path, packed])
    const rest = Buffer.concat([words(2, 0, 0, 0), words(4, MODE, offset)])
    directory.push(Buffer.concat([words(4, 0x02014b50), words(2, MADE_BY_UNIX, VERSION), facts, sizes, rest, path]))
    parts.push(local)
    offset += local.length
  }
  const index = Buffer.concat(directory)
  const count = entries.length
  const end = [words(4, 0x06054b50), words(2, 0, 0, count, count), words(4, index.length, offset), words(2, 0)]
  return Buffer.concat([...parts, index, ...end])
}

function words(bytes: 2 | 4, ...values: number[]): Buffer {
  const buffer = Buffer.alloc(bytes * values.length)
  for (const [index, value] of values.entries()) buffer.writeUIntLE(value, index * bytes, bytes)
  return buffer
}
