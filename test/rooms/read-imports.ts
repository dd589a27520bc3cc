import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix, relative } from 'node:path'
import {
  isExportDeclaration,
  isImportDeclaration,
  isStringLiteral,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

/** An import of any form: static, dynamic, `export from`, of a type, or a require() of a plain script. */
export type Import = {
  /** The importing file, from the root. */
  readonly file: string
  readonly line: number
  /** As it is written. */
  readonly specifier: string
  /** A file of the repository, from the root, or the name of a package or of a module of Node. */
  readonly target: string
  readonly isType: boolean
}

/** Short names of files, as package.json's `imports` has them. */
type Aliases = Readonly<Record<string, string>>

/** Every import in the code below a folder, as TypeScript's own parser finds them. */
export function readImports(root: string, aliases: Aliases): Import[] {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-imports-'))
  const api = new API({ cwd: root })
  try {
    return sourcesOf(api, root, join(folder, 'tsconfig.json')).flatMap((source) => importsOf(source, root, aliases))
  } finally {
    api.close()
    rmSync(folder, { recursive: true })
  }
}

function sourcesOf(api: API, root: string, config: string): SourceFile[] {
  writeFileSync(config, JSON.stringify(parsingOnly(root)))
  const program = api.updateSnapshot({ openProjects: [config] }).getProject(config)?.program
  if (!program) throw new Error(`TypeScript did not open ${config}.`)
  return program.getSourceFileNames().map((path) => program.getSourceFile(path) as SourceFile)
}

function parsingOnly(root: string) {
  return {
    compilerOptions: { noResolve: true, noLib: true, types: [], allowJs: true, jsx: 'preserve', module: 'nodenext' },
    include: [join(root, '**/*')],
    exclude: ['node_modules', 'cdk.out', 'dist'].map((name) => join(root, name)),
  }
}

function importsOf(source: SourceFile, root: string, aliases: Aliases): Import[] {
  const file = relative(root, source.fileName)
  return source.imports.filter(isStringLiteral).map((node) => ({
    file,
    line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1,
    specifier: node.text,
    target: targetOf(file, node.text, aliases),
    isType: isOfType(node.parent),
  }))
}

function targetOf(file: string, specifier: string, aliases: Aliases): string {
  const alias = aliases[specifier]
  if (alias !== undefined) return posix.normalize(alias)
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier
}

/** `import { type A }` still loads the module, so it counts as a value. */
function isOfType(statement: Node): boolean {
  if (isImportDeclaration(statement)) return statement.importClause?.phaseModifier === SyntaxKind.TypeKeyword
  if (isExportDeclaration(statement)) return statement.isTypeOnly
  return statement.kind === SyntaxKind.LiteralType
}
