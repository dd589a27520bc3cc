export default async function tearDown(): Promise<void> {
  await (globalThis as { sharedByTheTests?: AsyncDisposableStack }).sharedByTheTests?.disposeAsync()
}
