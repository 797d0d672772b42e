/** The server of one machine's numbers, by `serve()`. */

/** Options of `serve()`. */
export interface ServeOptions {
  /**
   * Address and port. Default "127.0.0.1:16121"; port 0: one that is free. An address that other machines reach needs
   * `tokenFile`.
   */
  listen?: string;
  /**
   * File with the token that a client must send, as `Authorization: Bearer` or as the password of Basic: one line of 16 to 512
   * printable characters, in a file that other users may not read. Default: none is asked for.
   */
  tokenFile?: string;
  /** Between two readings while a page is open, in milliseconds, 1000 to 3,600,000; default 1000. Else a reading is taken when it is asked for. */
  intervalMs?: number;
  /** As for `snapshot()`. */
  deadlineMs?: number;
  /** Folder of the recording whose history the page shows. Default: as for `record()`. */
  folder?: string;
  /** Whether the page shows command lines of processes, which may have secrets. Default: their names only. */
  argv?: boolean;
  /** Ends the server. */
  signal?: AbortSignal;
}

/** A server that runs. */
export interface Serving {
  /** Of the page: "http://127.0.0.1:16121/". */
  url: string;
  /** Ends every connection and frees the port. The second call waits for the first. */
  close(): Promise<void>;
}
