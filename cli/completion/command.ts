import type { LocalCommand } from '../local-command.ts'

const shells = ['bash', 'zsh', 'fish'] as const

export const completionCommand: LocalCommand = {
  name: 'completion',
  summary: 'Print a shell script that completes commands, flags and names',
  arguments: [{ name: 'shell', description: 'Shell', choices: shells }],
  options: [],
  examples: [
    'completion bash > ~/.local/share/bash-completion/completions/spgw',
    'completion zsh > ~/.zfunc/_spgw',
    'completion fish > ~/.config/fish/completions/spgw.fish',
  ],
  async run({ shell }, io) {
    const { scripts } = await import('./scripts.ts')
    const name = shells.find((one) => one === shell)
    if (name !== undefined) await io.stdout.write(scripts[name])
    return 0
  },
}
