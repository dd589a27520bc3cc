export type Page = { readonly status: number; readonly text: string; readonly type?: string }

/** Stripe sends customers here. A form, because a preview of the link would use up the only showing. */
export function afterPaying(session: string): Page {
  const id = /^cs_\w{1,120}$/.test(session) ? session : ''
  const form = `<form method="post" action="/welcome"><input type="hidden" name="session_id" value="${id}"><button>Show my key, once</button></form>`
  return html(200, `<p>Thank you.</p>${form}`)
}

/** The secret has letters, digits and underscores only. */
export function secretPage(secret: string): Page {
  return html(200, `<p>This is your key. Keep it now: it is shown only once.</p><pre>${secret}</pre>`)
}

export function textPage(status: number, text: string): Page {
  return html(status, `<p>${text}</p>`)
}

function html(status: number, body: string): Page {
  return { status, type: 'text/html', text: `<!doctype html><meta charset="utf-8"><title>Credits</title>${body}\n` }
}
