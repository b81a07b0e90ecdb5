import { join } from 'node:path'
import type { ClientName } from '../../cli/clients/client-names.ts'
import type { FormatName } from '../../src/core/format.ts'
import type { Piece } from '../../test/support/matrix/scene.ts'

type Call = Extract<Piece, { kind: 'call' }>

/** What the played model does. */
export interface Edit {
  /** The calls of each turn; null: the client offers no tool for it, so that it is asking for something else. */
  turns(offered: ReadonlySet<string>): readonly (readonly Call[])[] | null
  /** What it says at its end, and what of it the client must have shown. */
  said: string
  shown: string
}

export interface Agent {
  /** npm's names, or `pip:` and PyPI's. Its version is the first one's. */
  packages: readonly string[]
  /** What it speaks. */
  formats: readonly FormatName[]
  /** The formats of the providers that it is tried with; all others, where it is left out. */
  on?: readonly FormatName[]
  /** Whose settings `spgw connect` writes. Null: a program of `programs/`, which is told where the gateway is. */
  client: ClientName | null
  command(question: string): readonly string[]
  /** The model that it asks for by another name: the route has this one. */
  asksFor?: string
  environment?: Readonly<Record<string, string>>
  /** Null: it edits no files, and is only asked. */
  edit: ((directory: string) => Edit) | null
}

export const prompt = 'Write "one" into notes.txt, then change it to "two".'
export const fileName = 'notes.txt'
const said = 'notes.txt says two.'

type MakeEdit = (directory: string) => Edit

/** Of a client that has no tools: the model only says something. */
export const answerOnly: Edit = { said, shown: said, turns: () => [] }

/** aider reads edits out of the text. */
const asText: MakeEdit = () => ({ said: `${fileName}\n\`\`\`\ntwo\n\`\`\`\n\n${said}`, shown: said, turns: () => [] })

/** Tools of one name each: the first writes a file, the second changes it. */
interface ToolPair {
  write: string
  change: string
  writeInput(path: string): Call['input']
  changeInput(path: string): Call['input']
}

/** Each call is a turn of its own. */
function editWith({ write, change, writeInput, changeInput }: ToolPair, isRelative = false): MakeEdit {
  return (directory) => {
    const path = isRelative ? fileName : join(directory, fileName)
    return {
      said,
      shown: said,
      turns: (offered) =>
        offered.has(write)
          ? [
              [{ kind: 'call', name: write, input: writeInput(path) }],
              [{ kind: 'call', name: change, input: changeInput(path) }],
            ]
          : null,
    }
  }
}

/** Whichever the client offers. */
function eitherEdit(one: MakeEdit, other: MakeEdit): MakeEdit {
  return (directory) => ({
    said,
    shown: said,
    turns: (offered) => one(directory).turns(offered) ?? other(directory).turns(offered),
  })
}

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
const adding = patch(`*** Add File: ${fileName}`, '+one')
const changing = patch(`*** Update File: ${fileName}`, '@@', '-one', '+two')

const write = (path: string) => ({ path, content: 'one\n' })
const writePath = (file_path: string) => ({ file_path, content: 'one\n' })
const replacePath = (file_path: string) => ({ file_path, old_string: 'one', new_string: 'two' })

export function isPython([first]: readonly string[]): boolean {
  return first?.startsWith('pip:') === true
}

function codex(asked: string): readonly string[] {
  return ['codex', 'exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', asked]
}

/** A program of `programs/`: its one tool writes a file. */
function programAgent(name: string, packages: readonly string[], formats: readonly FormatName[]): Agent {
  return {
    packages,
    formats,
    client: null,
    command: (asked) => (isPython(packages) ? ['python', '-P', `${name}.py`, asked] : ['node', `${name}.mjs`, asked]),
    edit: editWith(
      {
        write: 'write_file',
        change: 'write_file',
        writeInput: write,
        changeInput: (path) => ({ path, content: 'two\n' }),
      },
      true,
    ),
  }
}

export const agents: Readonly<Record<string, Agent>> = {
  'claude-code': {
    packages: ['@anthropic-ai/claude-code'],
    formats: ['messages'],
    client: 'claude-code',
    command: (asked) => ['claude', '-p', asked, '--permission-mode', 'acceptEdits'],
    environment: { ANTHROPIC_API_KEY: 'sk-ant-exported' },
    edit: editWith({ write: 'Write', change: 'Edit', writeInput: writePath, changeInput: replacePath }),
  },
  codex: {
    packages: ['@openai/codex'],
    formats: ['responses'],
    client: 'codex',
    command: codex,
    edit: editWith({
      write: 'exec_command',
      change: 'exec_command',
      writeInput: () => ({ cmd: `apply_patch <<'EOF'\n${adding}\nEOF` }),
      changeInput: () => ({ cmd: `apply_patch <<'EOF'\n${changing}\nEOF` }),
    }),
  },
  // With a model that it knows, Codex has a tool that takes a program as text, and within it one for patches.
  'codex-known-model': {
    packages: ['@openai/codex'],
    formats: ['responses'],
    client: 'codex',
    command: codex,
    asksFor: 'gpt-6.2-sol',
    edit: editWith({
      write: 'functions__exec',
      change: 'functions__exec',
      writeInput: () => ({ input: `text(await tools.apply_patch(${JSON.stringify(adding)}))` }),
      changeInput: () => ({ input: `text(await tools.apply_patch(${JSON.stringify(changing)}))` }),
    }),
  },
  'gemini-cli': {
    packages: ['@google/gemini-cli'],
    formats: ['generate'],
    client: 'gemini-cli',
    command: (asked) => ['gemini', '--approval-mode', 'auto_edit', '-p', asked],
    environment: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    edit: editWith({
      write: 'write_file',
      change: 'replace',
      writeInput: writePath,
      changeInput: (path) => ({ ...replacePath(path), instruction: 'Say two.' }),
    }),
  },
  opencode: {
    packages: ['opencode-ai'],
    formats: ['chat'],
    client: 'opencode',
    command: (asked) => ['opencode', 'run', asked],
    environment: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    // GPT's models get another tool than all others.
    edit: eitherEdit(
      editWith({
        write: 'apply_patch',
        change: 'apply_patch',
        writeInput: () => ({ patchText: adding }),
        changeInput: () => ({ patchText: changing }),
      }),
      editWith({
        write: 'write',
        change: 'edit',
        writeInput: (filePath) => ({ filePath, content: 'one\n' }),
        changeInput: (filePath) => ({ filePath, oldString: 'one', newString: 'two' }),
      }),
    ),
  },
  'qwen-code': {
    packages: ['@qwen-code/qwen-code'],
    formats: ['chat'],
    client: 'qwen-code',
    command: (asked) => ['qwen', '--approval-mode', 'auto-edit', '-p', asked],
    edit: editWith({ write: 'write_file', change: 'edit', writeInput: writePath, changeInput: replacePath }),
  },
  pi: {
    packages: ['@earendil-works/pi-coding-agent'],
    formats: ['chat'],
    client: 'pi',
    command: (asked) => ['pi', '-p', asked],
    edit: editWith({
      write: 'write',
      change: 'edit',
      writeInput: write,
      changeInput: (path) => ({ path, edits: [{ oldText: 'one', newText: 'two' }] }),
    }),
  },
  continue: {
    packages: ['@continuedev/cli'],
    formats: ['chat'],
    // It asks for GPT's models by responses.
    on: ['messages', 'generate'],
    client: 'continue',
    command: (asked) => ['cn', '--auto', '-p', asked],
    edit: editWith({
      write: 'Write',
      change: 'Write',
      writeInput: (filepath) => ({ filepath, content: 'one\n' }),
      changeInput: (filepath) => ({ filepath, content: 'two\n' }),
    }),
  },
  aider: {
    packages: ['pip:aider-chat'],
    formats: ['chat'],
    client: 'aider',
    command: (asked) => [
      ...['aider', '--message', asked, '--edit-format', 'whole', '--yes-always', '--no-git', '--map-tokens', '0'],
      ...['--no-check-update', '--no-show-model-warnings', '--no-show-release-notes', '--no-analytics', fileName],
    ],
    edit: asText,
  },
  llm: {
    packages: ['pip:llm'],
    formats: ['chat'],
    client: 'llm',
    command: (asked) => ['llm', asked],
    edit: null,
  },
  ai: programAgent(
    'ai',
    ['ai', '@ai-sdk/openai', '@ai-sdk/anthropic', '@ai-sdk/google', 'zod'],
    ['chat', 'responses', 'messages', 'generate'],
  ),
  langchain: programAgent(
    'langchain',
    ['langchain', '@langchain/core', '@langchain/openai', '@langchain/anthropic', '@langchain/google-genai', 'zod'],
    ['chat', 'responses', 'messages', 'generate'],
  ),
  'openai-agents': programAgent('openai-agents', ['@openai/agents', 'openai', 'zod'], ['chat', 'responses']),
  'openai-agents-python': programAgent('openai-agents-python', ['pip:openai-agents'], ['chat', 'responses']),
  'langchain-python': programAgent(
    'langchain-python',
    ['pip:langchain', 'pip:langchain-openai', 'pip:langchain-anthropic', 'pip:langchain-google-genai'],
    ['chat', 'responses', 'messages', 'generate'],
  ),
  'pydantic-ai': programAgent(
    'pydantic-ai',
    ['pip:pydantic-ai-slim', 'pip:openai', 'pip:anthropic', 'pip:google-genai'],
    ['chat', 'responses', 'messages', 'generate'],
  ),
  'llama-index': programAgent('llama-index', ['pip:llama-index-core', 'pip:llama-index-llms-openai'], ['chat']),
  litellm: programAgent('litellm', ['pip:litellm'], ['chat', 'responses', 'messages', 'generate']),
  smolagents: programAgent('smolagents', ['pip:smolagents[openai]'], ['chat']),
}
