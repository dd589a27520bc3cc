/** The name of a tool in a namespace, for a format without namespaces. */
export function namespacedName(namespace: unknown, name: string): string {
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}__${name}` : name
}
