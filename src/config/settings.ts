import type { TimeLimits } from '../core/lane.ts'
import type { Secret } from '../core/secrets/secret.ts'

/** The settings of one run, merged from flags, environment and file (`contract.md`, Settings) and frozen. */
export interface Settings {
  /** Absolute. */
  readonly dataDirectory: string
  /** Where they were read; null: in no file. */
  readonly file: string | null
  readonly gateway: {
    readonly host: string
    /** 0 asks the system for a free one. */
    readonly port: number
    /** null: plain HTTP. */
    readonly tls: TlsFiles | null
    /** As clients see it, without a trailing slash; null: made from the address that was bound. */
    readonly url: string | null
    readonly workers: number | 'auto'
    /** Bytes of a JSON body. */
    readonly bodyLimit: number
    /** Bytes of a body that goes up as a stream. */
    readonly uploadLimit: number
    /** Bytes of a JSON body that is translated for a provider of another format. */
    readonly translateLimit: number
    /** Bytes of all bodies that are held at once; `auto`: from the machine's memory. */
    readonly heldLimit: number | 'auto'
    readonly timeouts: Readonly<TimeLimits>
    /** How long open requests may take to end once the gateway stops. */
    readonly drainMs: number
    /** For so long `/readyz` says that the gateway stops, before it refuses connections. */
    readonly drainNoticeMs: number
    /** Addresses or CIDR blocks whose `x-forwarded-for` is believed. */
    readonly trustedProxies: readonly string[]
    /** Origins (`https://app.example`), or `*`. */
    readonly corsOrigins: readonly string[]
    /** Whether calls may be begun whose media pass the gateway by. */
    readonly webrtc: boolean
  }
  readonly console: {
    readonly host: string
    readonly port: number
    readonly tls: TlsFiles | null
    readonly url: string | null
    readonly metricsToken: Secret | null
    /** null: nobody signs in through an identity provider. */
    readonly oidc: WrittenOidcSettings | null
  }
  readonly admin: {
    /** Absolute path, never longer than a socket address holds. */
    readonly socket: string
    /** Group name or number; the socket's mode is then 0660. */
    readonly socketGroup: string | null
  }
  /** Proxies on the way to providers, from the environment's usual variables. */
  readonly proxies: {
    /** For http and for https; a URL, with its password where it has one. null: none. */
    readonly http: Secret | null
    readonly https: Secret | null
    /** Hosts that are reached without one, as NO_PROXY writes them. */
    readonly except: string
  }
  readonly log: {
    readonly level: LogLevel
    /** null: `text` on a terminal, `json` elsewhere. */
    readonly format: LogFormat | null
    /** Whether each request that ends is logged, as a line of JSON. */
    readonly requests: boolean
  }
  readonly records: {
    readonly retentionMs: number
    /** Of captured bodies; never longer than the record. */
    readonly bodiesRetentionMs: number
    /** Of the database: beyond it the oldest bodies go, then the oldest records. */
    readonly mostBytes: number | null
    /** How the clients' addresses are recorded. */
    readonly clientAddress: ClientAddressForm
  }
  /** Where traces go; null: nowhere. */
  readonly telemetry: TelemetrySettings | null
  /** Backups that the gateway makes by itself; null: none. */
  readonly backup: {
    readonly schedule: BackupSchedule
    /** So many of the newest are kept; null: all. */
    readonly keep: number | null
    /** Absolute. */
    readonly directory: string
  } | null
  /** What several nodes share; null: this gateway is one alone. */
  readonly cluster: ClusterSettings | null
  /** Where the machine key is read from instead of the data directory. */
  readonly machineKeyFile: string | null
  /** By the name of each setting, a digest of what it says: tells which have changed without holding a secret. */
  readonly digests: Readonly<Record<string, string>>
}

/** An identity provider by which operators sign in (OpenID Connect). */
export interface WrittenOidcSettings {
  readonly issuer: string
  readonly clientId: string
  /** null: a public client. */
  readonly clientSecret: Secret | null
  /** What the page calls it. */
  readonly name: string
  readonly scopes: readonly string[]
  /** Whose values `roles` names. */
  readonly roleClaim: string
  /** By a value of the claim; `*` is for whoever the provider lets in. A project is a name or an id; null: the workspace. */
  readonly roles: Readonly<Record<string, readonly { role: 'viewer' | 'admin' | 'owner'; project: string | null }[]>>
}

/** PostgreSQL, by which the nodes of a cluster share their configuration. */
export interface ClusterSettings {
  /** Name, address, or the absolute path of a socket's folder. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
  readonly password: Secret | null
  /** PEM file of the authority that vouches for the server; null: one of the system's. */
  readonly authority: string | null
  /** What the others call this node; null: as the machine is called. */
  readonly node: string | null
  /** Budgets are counted by all nodes together; else by each for itself. */
  readonly sharesBudgets: boolean
  /** Whether records are brought to PostgreSQL and read from there, or each node keeps its own. */
  readonly records: 'shared' | 'local'
  /** By which nodes count limits together; null: each counts for itself. */
  readonly valkey: ValkeySettings | null
  /** For so many milliseconds a node serves that reaches none of the two; null: for as long as it takes. */
  readonly isolationMs: number | null
}

/** Valkey or Redis, by which nodes share limits. */
export interface ValkeySettings {
  readonly host: string
  readonly port: number
  /** null: the server's default user. */
  readonly user: string | null
  readonly database: number
  readonly password: Secret | null
  /** PEM file of the authority that vouches for the server; null: one of the system's. */
  readonly authority: string | null
  /** What a node may use of limits while it does not reach it: an even part, nothing, or the whole. */
  readonly without: 'share' | 'refuse' | 'local'
}

/** A collector that takes OTLP over HTTP. */
export interface TelemetrySettings {
  /** Without `/v1/traces`, unless it was written with it. */
  readonly endpoint: string
  /** Sent with each export, by name in lower case. */
  readonly headers: Readonly<Record<string, Secret>>
}

/** PEM files, as absolute paths. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** Every so often, or at a time of each day (minutes since midnight UTC). */
export type BackupSchedule = { readonly everyMs: number } | { readonly minuteOfDay: number }

export const clientAddressForms = ['full', 'masked', 'none'] as const
export type ClientAddressForm = (typeof clientAddressForms)[number]

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]
export const logFormats = ['json', 'text'] as const
export type LogFormat = (typeof logFormats)[number]
