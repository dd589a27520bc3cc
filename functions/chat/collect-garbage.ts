import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** A heap that takes more than this part of the function's memory is collected. */
const MOST_OF_MEMORY = 1 / 4

/**
 * To be called before a request. V8 lets garbage grow up to a function's whole memory before it collects, so that the
 * garbage of a few large requests, and one more, would be too much. Requests of the usual size never come so far.
 */
export function garbageCollector(memoryMb: number): () => void {
  const mostBytes = memoryMb * 1024 * 1024 * MOST_OF_MEMORY
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
