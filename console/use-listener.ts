import { useEffect } from 'preact/hooks'

/** Listens as long as the part is shown. */
export function useListener(name: string, heard: (event: Event) => void): void {
  useEffect(() => {
    addEventListener(name, heard)
    return () => removeEventListener(name, heard)
  }, [])
}
