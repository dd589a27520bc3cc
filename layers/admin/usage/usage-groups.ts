export const USAGE_GROUPS = ['model', 'key', 'account', 'provider', 'day', 'user'] as const
export const TAG = 'tag:'
export const USAGE_GROUP = new RegExp(`^(${USAGE_GROUPS.join('|')}|${TAG}.{1,64})$`, 's')
export const GROUP_WORDS = `${USAGE_GROUPS.join(', ')} or ${TAG}NAME`
