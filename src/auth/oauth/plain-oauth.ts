const FORM = /^application\/x-www-form-urlencoded|^text\/plain/;

/**
 * Converts the answer of a plain OAuth 2.0 token endpoint to the form of RFC 6749. GitHub answers a form unless JSON is
 * requested, and errors with status 200; others omit the type of the token, or add an id_token that cannot be verified.
 */
export async function plainTokenAnswer(answer: Response): Promise<Response> {
  if (answer.status !== 200) return answer;
  const type = answer.headers.get('content-type') ?? '';
  const text = await answer.text();
  const fields = FORM.test(type) ? Object.fromEntries(new URLSearchParams(text)) : parsed(text);
  if (!fields) return new Response(text, { status: 200, headers: { 'content-type': type } });
  const { access_token, token_type = 'bearer', error } = fields;
  return access_token
    ? Response.json({ access_token, token_type })
    : Response.json({ error: typeof error === 'string' ? error : 'invalid_response' }, { status: 400 });
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
