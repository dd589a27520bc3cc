import type { BillForm } from '../reading/known-providers.ts'

/** One key for the names of one model: a dated name and its alias, or what AWS calls it on a bill. */
export function modelKey(form: BillForm, name: string): string {
  const lower = name.toLowerCase()
  return form === 'AWS' ? wordsOf(name) : lower.replace(/[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, '')
}

/** "Claude4.5Sonnet", "Claude Sonnet 4.5" and "us.anthropic.claude-sonnet-4-5-20250929-v1:0" have the same words. */
function wordsOf(name: string): string {
  const bare = name.replace(/^(?:[a-z]{2,6}\.)?[a-z0-9]+\.(?=[a-z])/, '').replace(/-v\d+(?::\d+)*$/i, '')
  const spaced = bare.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  const words = spaced.match(/[a-z]+|\d+/g) ?? []
  return words
    .filter((word) => !/^\d{8}$/.test(word))
    .sort()
    .join(' ')
}
