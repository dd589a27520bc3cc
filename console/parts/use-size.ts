import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/** Told of an element when it is there, and whenever its size changes. */
export function useSize<Of extends HTMLElement>(frame: RefObject<Of>, onSize: (element: Of) => void): void {
  // Not useEffect, which comes after a first picture in the wrong width.
  useLayoutEffect(() => {
    const element = frame.current
    if (!element) return
    const observer = new ResizeObserver(() => onSize(element))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
}
