import { CfnParameter, type Stack } from 'aws-cdk-lib'
import type { StageName, WaybillProps } from '../props.ts'
import { LOG_DAYS, MAY_COME_LATER } from '../setting-table.ts'
import { numberRange } from '../settings.ts'
import { stageOf } from '../stages.ts'

/** The settings that a template leaves to its deployment: the numbers that have a default, and who gets the alarms. */
export function addParameters(stack: Stack, stage: StageName): Partial<WaybillProps> {
  const defaults: Readonly<Record<string, unknown>> = { ...stageOf(stage) }
  const numbers = MAY_COME_LATER.flatMap((name) => {
    const value = defaults[name]
    return typeof value === 'number' ? [[name, numberParameter(stack, name, value)] as const] : []
  })
  const alarmEmail = new CfnParameter(stack, 'AlarmEmail', {
    description: 'The setting alarmEmail: the address that gets the alarms',
    allowedPattern: '[^@ ]+@[^@ ]+',
  }).valueAsString
  return { ...Object.fromEntries(numbers), alarmEmail }
}

function numberParameter(stack: Stack, name: string, value: number): number {
  const { minimum: minValue, maximum: maxValue } = numberRange(name)
  return new CfnParameter(stack, `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, {
    type: 'Number',
    default: value,
    description: `The setting ${name}, as docs/deploy.md has it`,
    ...(name === 'logRetentionDays'
      ? { allowedValues: LOG_DAYS.map(String) }
      : { ...(minValue !== undefined && { minValue }), ...(maxValue !== undefined && { maxValue }) }),
  }).valueAsNumber
}
