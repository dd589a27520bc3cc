export function download(name: string, file: Blob | string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(typeof file === 'string' ? new Blob([file], { type: 'text/csv' }) : file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
