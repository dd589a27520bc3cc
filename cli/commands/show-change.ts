import type { GrantMade, KeyDetail, KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { SETTING_OPTIONS } from '../../layers/admin/settings/setting-options.ts'
import { shownText } from '../../layers/admin/settings/setting-texts.ts'
import { ASKED_SETTINGS, SETTING_WORDS } from '../../layers/admin/settings/setting-words.ts'
import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { formatCredits, parseCredits, parseSignedCredits } from '../../layers/gateway/domain/money/money.ts'
import type { Screen } from '../../layers/terminal/terminal.ts'
import { ONLY_TIME } from './show-key.ts'

export function changeLine(name: string, before: string, after: string): string {
  return `${name} ${before} → ${after}`
}

/** By the names of the options that change them. */
export function settingChanges(before: KeyShape, after: KeyShape): string[] {
  return ASKED_SETTINGS.flatMap((setting) => {
    const { field } = SETTING_WORDS[setting]
    const [old, now] = [shownText(setting, before[field]), shownText(setting, after[field])]
    return old === now ? [] : [changeLine(SETTING_OPTIONS[setting].option, old, now)]
  })
}

/** Only grants change what was granted; requests change the balance at any moment. */
export function grantChanges({ credits, key }: GrantMade): string[] {
  const before = (parseCredits(key.granted) ?? 0n) - (parseSignedCredits(credits) ?? 0n)
  return [changeLine('granted', formatCredits(before), key.granted), `available ${key.available}`]
}

type Named = Pick<KeyDetail, 'id' | 'name'>

export function showChanges({ id, name }: Named, changes: readonly string[], { painted, paint }: Screen): void {
  const heading = plainLine(`${name} (${id})`)
  const lines = changes.map((change) => paint.strong(plainLine(change)))
  painted(changes.length === 0 ? `${heading} is as it was.` : [`${heading} is changed:`, ...lines].join('\n  '))
}

type Rotated = Named &
  Pick<KeyShape, 'last_four'> & {
    readonly previous: Pick<NonNullable<KeyShape['previous']>, 'last_four' | 'expires_at'> | null
  }

export function showRotated(key: Rotated, secret: string, out: Screen): void {
  const { previous, last_four } = key
  const changes = previous
    ? [
        changeLine('secret', `…${previous.last_four}`, `…${last_four}`),
        `old secret …${previous.last_four} valid until ${previous.expires_at}`,
      ]
    : [`only the secret …${last_four} is valid now`]
  showChanges(key, changes, out)
  out.log(`\n${secret}\n\n${ONLY_TIME}`)
}
