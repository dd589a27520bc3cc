export default async function stopForTests(): Promise<void> {
  await (globalThis as { dynamodbOfTheTests?: AsyncDisposableStack }).dynamodbOfTheTests?.disposeAsync()
}
