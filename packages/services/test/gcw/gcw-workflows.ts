/** Both branches ask; what they are told is the result. */
export const asks = `
main:
  params: [input]
  steps:
    - both:
        parallel:
          shared: [input]
          branches:
            - left:
                steps:
                  - open_left:
                      call: events.create_callback_endpoint
                      args: { http_callback_method: POST }
                      result: left
                  - approve_left:
                      call: events.await_callback
                      args: { callback: "\${left}", timeout: 60 }
                      result: told
                  - keep_left:
                      assign:
                        - input.left: \${told.http_request.body.answer}
            - right:
                steps:
                  - open_right:
                      call: events.create_callback_endpoint
                      result: right
                  - approve_right:
                      call: events.await_callback
                      args: { callback: "\${right}" }
                      result: told_right
                  - keep_right:
                      assign:
                        - input.right: \${told_right.http_request.body.answer}
    - done:
        return: \${input}
`;

export const fails = `
main:
  steps:
    - check:
        try:
          steps:
            - refuse:
                raise: { code: 17, message: none left, stock: { shelf: 3 } }
        except:
          as: error
          steps:
            - again:
                raise: \${error}
`;

/** Opens an endpoint, sleeps, and awaits it only then. */
export const dawdles = `
main:
  steps:
    - open:
        call: events.create_callback_endpoint
        result: endpoint
    - nap:
        call: sys.sleep
        args: { seconds: 1.5 }
    - ask:
        call: events.await_callback
        args: { callback: "\${endpoint}" }
        result: told
    - done:
        return: \${told}
`;

export const sleeps = `
main:
  steps:
    - nap:
        call: sys.sleep
        args: { seconds: 600 }
`;

/** One branch fails at once, the other takes its time and then tells. */
export const parts = `
main:
  steps:
    - open:
        call: events.create_callback_endpoint
        result: endpoint
    - both:
        parallel:
          branches:
            - hasty:
                steps:
                  - stumble:
                      raise: too hasty
            - calm:
                steps:
                  - ask:
                      call: wait_for
                      args: { endpoint: "\${endpoint}" }
wait_for:
  params: [endpoint]
  steps:
    - wait:
        call: events.await_callback
        args: { callback: "\${endpoint}" }
`;

export const calls = `
main:
  params: [input]
  steps:
    - look:
        call: http.get
        args: { url: "\${input.url}", auth: { type: OAuth2 } }
        result: got
    - done:
        return: \${got.body}
`;

export const reports = `
main:
  params: [input]
  steps:
    - done:
        return:
          id: \${sys.get_env("GOOGLE_CLOUD_WORKFLOW_EXECUTION_ID")}
          where: \${sys.get_env("GOOGLE_CLOUD_LOCATION")}
          input: \${input}
`;
