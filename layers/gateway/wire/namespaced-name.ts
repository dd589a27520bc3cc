/** How a tool of a namespace is called where there are no namespaces. */
export function namespacedName(namespace: unknown, name: string): string {
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}__${name}` : name
}
