import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { readMemoryMb, readTokenizerFunction } from '../../layers/gateway/platform/config.ts'
import { openInstance } from '../instance.ts'
import { invokeTokenizer } from '../invoke-tokenizer.ts'
import { createChat } from './create.ts'

export const handler = createChat(openInstance(), {
  countTokens: invokeTokenizer(readTokenizerFunction()),
  limitHeap: heapLimiter(readMemoryMb()),
})

// Keeps V8's heap small, as a function pays for all of its memory. The space for new objects does not grow: measured,
// that saves 20 MB and takes no longer. The returned function runs before each request and collects garbage after large
// ones, which V8 would let grow up to the function's whole memory; requests of the usual size never need it.
function heapLimiter(memoryMb: number): () => void {
  setFlagsFromString('--semi-space-growth-factor=1')
  const mostBytes = (memoryMb * 1024 * 1024) / 4
  let collect: (() => void) | undefined
  return () => {
    const { total_heap_size: heap, external_memory: buffers } = getHeapStatistics()
    if (heap + buffers < mostBytes) return
    collect ??= exposeCollector()
    collect()
  }
}

function exposeCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return process.getBuiltinModule('node:vm').runInNewContext('gc')
}
