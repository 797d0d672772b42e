/**
 * Global types that the declarations of umaprobe name, for programs whose `lib` and `types` bring none of them. Each
 * merges with that of @types/node and of TypeScript's own libraries.
 */

declare global {
  interface AbortSignal {
    readonly aborted: boolean;
  }

  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }

  interface Disposable {
    [Symbol.dispose](): void;
  }

  interface AsyncDisposable {
    [Symbol.asyncDispose](): PromiseLike<void>;
  }
}

export {};
