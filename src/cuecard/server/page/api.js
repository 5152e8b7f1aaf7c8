// The service's public API under /v1, and nothing else: whatever this page can do, a program can.

const KEY = "cuecard.token";

/** What the service refused, or that it could not be reached (status 0). */
export class ApiError extends Error {
  constructor(status, detail = {}) {
    super(detail.message || `the service answered with status ${status}`);
    this.status = status;
    this.code = detail.code ?? "";
    this.hint = detail.hint ?? null;
    this.span = detail.span ?? null;
  }
}

export class Api {
  /** `askToken` is called when a token is needed, and gives one or null. */
  constructor(askToken) {
    this.askToken = askToken;
    this.asking = null;
  }

  get(path, options) {
    return this.#call("GET", path, undefined, options);
  }

  post(path, body, options) {
    return this.#call("POST", path, body, options);
  }

  put(path, body, options) {
    return this.#call("PUT", path, body, options);
  }

  async #call(method, path, body, { signal } = {}) {
    for (;;) {
      const token = sessionStorage.getItem(KEY);
      const response = await this.#send(method, path, body, signal, token);
      const answer = await response.json().catch(() => null);
      if (response.ok && answer !== null) return answer;
      if (response.status === 401 && (await this.#newToken(token))) continue;
      throw new ApiError(response.status, answer?.error);
    }
  }

  async #send(method, path, body, signal, token) {
    const headers = { Accept: "application/json" };
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const payload = body === undefined ? undefined : JSON.stringify(body);
    try {
      return await fetch(path, { method, headers, body: payload, signal, cache: "no-store" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, {
        message: "the service could not be reached",
        hint: "is it still running?",
      });
    }
  }

  /** Whether there is another token to try now; one dialog for all calls that wait. */
  async #newToken(refused) {
    const current = sessionStorage.getItem(KEY);
    if (current !== refused) return true;
    this.asking ??= this.askToken(refused !== null).finally(() => {
      this.asking = null;
    });
    const token = await this.asking;
    if (token) sessionStorage.setItem(KEY, token);
    return Boolean(token);
  }
}

export const agentPath = (key) => `/v1/agents/${encodeURIComponent(key)}`;

/** Calls of which only the latest counts: what was asked before is cut off and its answer lost. */
export class Latest {
  #current = null;

  async run(action) {
    this.stop();
    const mine = (this.#current = new AbortController());
    try {
      const value = await action(mine.signal);
      return this.#current === mine ? { value } : null;
    } catch (error) {
      if (this.#current !== mine || error.name === "AbortError") return null;
      return { error };
    }
  }

  stop() {
    this.#current?.abort();
    this.#current = null;
  }
}
