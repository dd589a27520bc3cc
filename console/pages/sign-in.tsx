import { Command } from '../parts/command.tsx'
import { Page } from '../parts/page.tsx'

export function SignIn() {
  return (
    <Page title="Open the console from the command line">
      <p>This window has no token, or its console has ended. The command opens a window that has one:</p>
      <p>
        <Command>console --local</Command>
      </p>
      <p class="quiet">
        For a deployed stage: <code>--stage dev</code> in place of <code>--local</code>. An address works once.
      </p>
    </Page>
  )
}
