/** A file of the page, by the path that it is served at. */
export type PageFile = { readonly path: string; readonly type: string; readonly body: string | Uint8Array }

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Waybill</title>
    <link rel="stylesheet" href="/console.css">
    <script type="module" src="/console.js"></script>
  </head>
  <body>
    <p>The admin API is served here, under /admin/v1.</p>
  </body>
</html>
`

/** The files of the page. */
export async function buildConsole(): Promise<{ readonly files: readonly PageFile[] }> {
  return {
    files: [
      { path: '/', type: 'text/html; charset=utf-8', body: HTML },
      { path: '/console.js', type: 'text/javascript; charset=utf-8', body: 'export {}\n' },
      { path: '/console.css', type: 'text/css; charset=utf-8', body: ':root { color-scheme: light dark }\n' },
    ],
  }
}
