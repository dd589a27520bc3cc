import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The width of an element in pixels, also after the window has changed. */
export function useWidth<E extends Element>(before: number): [RefObject<E>, number] {
  const element = useRef<E>(null)
  const [width, setWidth] = useState(before)
  // Not useEffect, which comes after a first picture in the wrong width.
  useLayoutEffect(() => {
    if (!element.current) return
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
