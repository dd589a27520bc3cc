import { openService } from './service.ts'

const TARGET = 'com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101'

/** Why a trail of CloudTrail does not record, undefined if it does: it has no metric of that. Never throws. */
export function openTrail(Name: string) {
  const call = openService({ name: 'cloudtrail', variable: 'CLOUDTRAIL', target: TARGET })
  return async (): Promise<string | undefined> => {
    const asked = call('GetTrailStatus', JSON.stringify({ Name }), { attempts: 3 })
    return asked.then(faultIn, ({ name, message }) => `CloudTrail was asked, and answered with ${name}: ${message}`)
  }
}

function faultIn({ IsLogging, LatestDeliveryError: fault }: Record<string, unknown>): string | undefined {
  if (IsLogging !== true) return 'It is stopped.'
  return fault ? `Its files cannot be written: ${fault}` : undefined
}
