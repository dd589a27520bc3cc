import type { z } from 'zod'
import { formatCredits } from '../../gateway/domain/money.ts'
import { isoTime } from '../../gateway/domain/time.ts'
import type { Audit } from '../audit/audit-key.ts'
import { auditKeys } from '../audit/audit-keys.ts'
import { findingText } from '../audit/findings.ts'
import { AdminError } from './admin-error.ts'
import type { Answer, Call } from './call.ts'
import { knownKey } from './known-key.ts'
import type { auditBody } from './shapes/bodies.ts'
import type { AuditLine, AuditShape } from './shapes/books.ts'

/** A line for each key as it is done, and a last one. If the last one is missing, the audit broke off. */
export async function auditNow(call: Call, { key_id: keyId }: z.output<typeof auditBody>): Promise<Answer> {
  if (keyId !== undefined) await knownKey(call.tables, keyId, 'key_id')
  if (keyId === undefined && !call.onThisMachine) {
    throw new AdminError(
      'not_here',
      "Here one key is audited at a time, the one that 'key_id' names. 'waybill audit' on your own machine audits them all.",
      { param: 'key_id' },
    )
  }
  return { type: 'application/x-ndjson', body: auditLines(call, keyId) }
}

async function* auditLines({ tables, clock }: Call, keyId: string | undefined): AsyncGenerator<string> {
  let [keys, wrong] = [0, 0]
  for await (const audit of auditKeys(tables, keyId, clock)) {
    keys += 1
    if (!audit.ok) wrong += 1
    yield line(auditShape(audit))
  }
  yield line({ object: 'audit.summary', keys, wrong, at: isoTime(clock()) })
}

function auditShape(audit: Audit): AuditShape {
  return {
    object: 'audit',
    key_id: audit.id,
    name: audit.name,
    granted: formatCredits(audit.granted),
    available: formatCredits(audit.available),
    held: formatCredits(audit.held),
    spent: formatCredits(audit.spent),
    rows: audit.rows,
    row_costs: formatCredits(audit.rowCosts),
    expired_rows: audit.expiredRows,
    balances: audit.balances,
    explained: audit.explained,
    ok: audit.ok,
    findings: audit.findings.map((finding) => ({ ...findingText(finding), note: finding.note === true })),
    more_findings: audit.moreFindings,
  }
}

function line(value: AuditLine): string {
  return `${JSON.stringify(value)}\n`
}
