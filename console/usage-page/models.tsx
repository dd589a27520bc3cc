import { type Asked, asCurl, asPythonCode, asSdkCode } from '../pages/playground/as-code.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Credits } from '../parts/credits.tsx'
import type { List, Model } from './ask.ts'
import { Part } from './part.tsx'
import { perMillion } from './per-million.ts'
import { useAnswer } from './use-answer.ts'

export function Models({ secret }: { readonly secret: string }) {
  const models = useAnswer<List<Model>>(secret, 'models')
  const model = models.answer?.data.find(({ kind }) => kind === 'chat')?.id ?? 'MODEL'
  return (
    <>
      <Part title="Models and prices" of={models}>
        {({ data }) => (
          <>
            <p class="quiet">Credits for a million tokens.</p>
            <table>
              <thead>
                <tr>
                  <th scope="col">Model</th>
                  <th scope="col">Input</th>
                  <th scope="col">Cached</th>
                  <th scope="col">Output</th>
                  <th scope="col">Context</th>
                </tr>
              </thead>
              <tbody>
                {data.map(({ id, pricing, context_length: context }) => (
                  <tr key={id}>
                    <th scope="row">{id}</th>
                    <td>
                      <Credits of={perMillion(pricing.prompt)} />
                    </td>
                    <td>
                      <Credits of={perMillion(pricing.input_cache_read)} />
                    </td>
                    <td>
                      <Credits of={perMillion(pricing.completion)} />
                    </td>
                    <td>{context.toLocaleString('en')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )}
      </Part>
      <Code model={model} />
    </>
  )
}

const SNIPPETS: readonly (readonly [name: string, write: (asked: Asked) => string])[] = [
  ['curl', asCurl],
  ['Python', asPythonCode],
  ['TypeScript', asSdkCode],
]

function Code({ model }: { readonly model: string }) {
  const asked = {
    baseUrl: `${location.origin}/v1`,
    body: { model, messages: [{ role: 'user', content: 'Hello' }] as const },
  }
  return (
    <section class="panel" aria-label="Code">
      <h2>Code</h2>
      <p class="quiet">
        With your key in the variable <code>WAYBILL_KEY</code>. The base URL is <code>{asked.baseUrl}</code>.
      </p>
      {SNIPPETS.map(([name, write]) => (
        <div key={name}>
          <h3>
            {name} <CopyButton text={() => write(asked)} what={`the code for ${name}`} />
          </h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls. */}
          <pre tabIndex={0}>{write(asked)}</pre>
        </div>
      ))}
    </section>
  )
}
