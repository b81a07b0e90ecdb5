import type { ModelPrice } from '../../core/cost/model-price.ts'

/** A price as it is stored: with the provider's id, so that it survives a rename. */
export interface StoredPrice {
  providerId: string | null
  price: ModelPrice
}

export interface PriceTables {
  prices: {
    /** What operators set or imported, in the order of models. */
    list(): StoredPrice[]
    /** What replaced the table that shipped; null: nothing did. */
    table(): ModelPrice[] | null
    /** Adds each, or replaces the one for the same model and provider. */
    put(prices: readonly StoredPrice[]): void
    /** Returns whether there was one. */
    remove(model: string, providerId: string | null): boolean
    /** null: the shipped table again. */
    setTable(prices: readonly ModelPrice[] | null): void
  }
}
