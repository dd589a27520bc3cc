import { plainValue } from '../layers/gateway/domain/basics/plain-text.ts'

// Every answer is read by one of these functions: names, notes and errors in it are texts of others.

export async function readJson<T>(response: Response): Promise<T> {
  return plainValue(await response.json()) as T
}

export function parseJson<T>(text: string): T {
  return plainValue(JSON.parse(text)) as T
}
