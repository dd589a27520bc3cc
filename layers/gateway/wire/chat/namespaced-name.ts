export function namespacedName(namespace: unknown, name: string): string {
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}__${name}` : name
}
