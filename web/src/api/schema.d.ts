// Made by `npm run types`. Do not edit.
export interface paths {
    "/api/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Login */
        post: operations["login_api_auth_login_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Options
         * @description What a page has to know before anybody signs in.
         */
        get: operations["options_api_auth_options_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register
         * @description Whether this is open to everybody, needs an `invite`, or is closed is a setting of the server.
         */
        post: operations["register_api_auth_register_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Session
         * @description The session of the cookie. Where nobody has to sign in, that of the only person.
         */
        get: operations["session_api_auth_session_get"];
        put?: never;
        /**
         * Begin
         * @description Sign in on a web page. The session is kept in the cookie `caesura_session`, over https
         *     `__Host-caesura_session`. With `Authorization: Bearer` the token takes the place of the body, and the
         *     session ends when the token does.
         */
        post: operations["begin_api_auth_session_post"];
        /**
         * End
         * @description Sign out here. Other sessions of the person go on.
         */
        delete: operations["end_api_auth_session_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End All
         * @description Sign out everywhere: every token and every session of the person becomes invalid at once.
         */
        delete: operations["end_all_api_auth_sessions_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Agents */
        get: operations["agents_api_v2_agents_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/agents/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Agents Schema
         * @description The JSON schema of an agent's file.
         */
        get: operations["agents_schema_api_v2_agents_schema_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Listing
         * @description The caller's conversations, newest first. A `limit` above the largest page size is reduced to it. With
         *     `query`, only those with this in their title; small and capital letters are the same.
         */
        get: operations["listing_api_v2_conversations_get"];
        put?: never;
        /** Create */
        post: operations["create_api_v2_conversations_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tree
         * @description The conversation with its turns on all branches, oldest first. Without `limit` a page has the largest
         *     allowed size.
         */
        get: operations["tree_api_v2_conversations__conversation_id__get"];
        put?: never;
        post?: never;
        /**
         * Delete
         * @description Stop the conversation's runs and delete all of its data.
         */
        delete: operations["delete_api_v2_conversations__conversation_id__delete"];
        options?: never;
        head?: never;
        /** Rename */
        patch: operations["rename_api_v2_conversations__conversation_id__patch"];
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Listing
         * @description The artifacts of the conversation, oldest first, without their contents.
         */
        get: operations["listing_api_v2_conversations__conversation_id__artifacts_get"];
        put?: never;
        /**
         * Create
         * @description Upload an artifact. Its first version is the person's.
         */
        post: operations["create_api_v2_conversations__conversation_id__artifacts_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/artifacts/{artifact_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Current
         * @description The artifact with its current version.
         */
        get: operations["current_api_v2_conversations__conversation_id__artifacts__artifact_id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/artifacts/{artifact_id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Content
         * @description The content as a file to download. It is plain text to every browser, whatever its type is.
         */
        get: operations["content_api_v2_conversations__conversation_id__artifacts__artifact_id__content_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/artifacts/{artifact_id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Diff
         * @description What changed between two versions, as unified text and as hunks.
         */
        get: operations["diff_api_v2_conversations__conversation_id__artifacts__artifact_id__diff_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/artifacts/{artifact_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Versions
         * @description All versions without their contents, oldest first.
         */
        get: operations["versions_api_v2_conversations__conversation_id__artifacts__artifact_id__versions_get"];
        put?: never;
        /**
         * Edit
         * @description Edit an artifact: add a version with this content, or with `old` replaced by `new`. With `base` the
         *     edit is refused if another version is the current one.
         */
        post: operations["edit_api_v2_conversations__conversation_id__artifacts__artifact_id__versions_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/artifacts/{artifact_id}/versions/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Version
         * @description One version with its content.
         */
        get: operations["version_api_v2_conversations__conversation_id__artifacts__artifact_id__versions__number__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/branch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Branch
         * @description Make the branch through this turn the active branch.
         */
        post: operations["branch_api_v2_conversations__conversation_id__branch_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Listing
         * @description The files and folders in a folder of the conversation's workspace, by name. Without `limit` a page has
         *     the largest allowed size.
         */
        get: operations["listing_api_v2_conversations__conversation_id__files_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/files/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download
         * @description The content of a file. Links are not followed.
         */
        get: operations["download_api_v2_conversations__conversation_id__files__path__get"];
        /**
         * Upload
         * @description Write a file, with its folders. What has this path before is replaced at once, when the whole body has
         *     come.
         */
        put: operations["upload_api_v2_conversations__conversation_id__files__path__put"];
        post?: never;
        /**
         * Remove
         * @description Remove a file, or a folder with everything in it.
         */
        delete: operations["remove_api_v2_conversations__conversation_id__files__path__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Grants
         * @description The tools that are always allowed on the active branch.
         */
        get: operations["grants_api_v2_conversations__conversation_id__grants_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/grants/{tool}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke
         * @description Revoke the grant for this tool on every branch of the conversation. From now on calls need approval
         *     again, also in running turns.
         */
        delete: operations["revoke_api_v2_conversations__conversation_id__grants__tool__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Mark Read
         * @description Note up to where the person has read. The mark does not move back on its branch.
         */
        put: operations["mark_read_api_v2_conversations__conversation_id__read_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/snapshot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Snapshot
         * @description For a client that just opened: the end of the active branch, and the cursor after which its events
         *     continue. Without `limit` a page has the largest allowed size.
         */
        get: operations["snapshot_api_v2_conversations__conversation_id__snapshot_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/conversations/{conversation_id}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send
         * @description Send a message. When the response arrives, the message is stored and its turn is queued or running.
         */
        post: operations["send_api_v2_conversations__conversation_id__turns_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/feed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read
         * @description What changes in all conversations of the caller, as it happens. It does not end by itself.
         */
        get: operations["read_api_v2_feed_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/interrupts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inbox
         * @description The interrupts that wait for the caller in all conversations, oldest first. Without `limit` a page has
         *     the largest allowed size.
         */
        get: operations["inbox_api_v2_interrupts_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/interrupts/{interrupt_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Interrupt */
        get: operations["interrupt_api_v2_interrupts__interrupt_id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/interrupts/{interrupt_id}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer
         * @description Answer an interrupt. The turn continues once none of its interrupts is pending. A second answer is
         *     refused, and the error contains the first one.
         */
        post: operations["answer_api_v2_interrupts__interrupt_id__answer_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Me */
        get: operations["me_api_v2_me_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * People
         * @description All people by name, and what they have used; 403 for who is not an admin. Nothing that they have said
         *     is told.
         */
        get: operations["people_api_v2_people_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/stream-ticket": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stream Ticket
         * @description EventSource cannot send headers: a ticket lets it open one stream, once.
         */
        post: operations["stream_ticket_api_v2_stream_ticket_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/turns/{turn_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Turn */
        get: operations["turn_api_v2_turns__turn_id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/turns/{turn_id}/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer All
         * @description Answer several interrupts of a turn at once: all answers are accepted, or none.
         */
        post: operations["answer_all_api_v2_turns__turn_id__answers_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/turns/{turn_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events
         * @description All events of this turn, over all its segments, until the turn has ended.
         */
        get: operations["events_api_v2_turns__turn_id__events_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/turns/{turn_id}/regenerate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Regenerate
         * @description Send the same message again, as a sibling of this turn. Both replies are kept.
         */
        post: operations["regenerate_api_v2_turns__turn_id__regenerate_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/turns/{turn_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry
         * @description Retry a failed or stopped turn that no other turn follows.
         */
        post: operations["retry_api_v2_turns__turn_id__retry_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/turns/{turn_id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop
         * @description Stop a turn; `stopped` is false when it had already ended. Its messages are kept.
         */
        post: operations["stop_api_v2_turns__turn_id__stop_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Agent */
        Agent: {
            /**
             * Demo
             * @description Whether its model is the demo model, which is no AI
             */
            demo: boolean;
            /** Description */
            description: string;
            /** Is Default */
            is_default: boolean;
            /**
             * Metadata Version
             * @description The label that the operator gave it in its file
             */
            metadata_version: string | null;
            /**
             * Model
             * @description Its model; null if an operator's graph names none
             */
            model: string | null;
            /** Name */
            name: string;
            /** Sub Agents */
            sub_agents: string[];
            /**
             * Type
             * @enum {string}
             */
            type: "chat_model_agent" | "langgraph";
            /**
             * Version
             * @description A hash, which changes with the agent
             */
            version: string;
        };
        /** Agents */
        Agents: {
            /** Agents */
            agents: components["schemas"]["Agent"][];
        };
        /** Artifact */
        Artifact: {
            /** Content Type */
            content_type: string;
            /** Created At */
            created_at: number;
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Updated At */
            updated_at: number;
            /**
             * Version
             * @description The number of the current version
             */
            version: number;
        };
        /** ArtifactChangedEvent */
        ArtifactChangedEvent: {
            /** Agent */
            agent: string;
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Id */
            id: string;
            /** Parent */
            parent: string | null;
            /** Update Type */
            update_type: string;
            /** Version */
            version: number;
        };
        /** Artifacts */
        Artifacts: {
            /** Artifacts */
            artifacts: components["schemas"]["Artifact"][];
        };
        /** Asked */
        Asked: {
            /** Agent */
            agent: string;
            /** Answer */
            answer: {
                [key: string]: unknown;
            } | null;
            /** Args */
            args: {
                [key: string]: unknown;
            };
            /**
             * Changed
             * @description It was approved, but the file had changed since it was shown: nothing was written
             */
            changed: boolean;
            /**
             * Context
             * @description What is to be confirmed: at most 2,000 characters from the end of what the agent said
             */
            context: string;
            /** Conversation Id */
            conversation_id: string;
            /** Created At */
            created_at: number;
            /** Decisions */
            decisions: ("approve" | "edit" | "reject" | "respond" | "answers" | "fields" | "value")[];
            /** Description */
            description: string;
            /** Expires At */
            expires_at: number | null;
            /** Fields */
            fields: components["schemas"]["FormField"][];
            /** @description What the file holds now that `write_file` would write */
            file: components["schemas"]["File"] | null;
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "approval" | "questions" | "confirmation" | "graph";
            /** Label */
            label: string;
            /** Name */
            name: string | null;
            /**
             * Note
             * @description What the operator says about the call, if anything; on one line
             */
            note: string;
            /**
             * Parent
             * @description The tool call under which a sub-agent asks
             */
            parent: string | null;
            /** Questions */
            questions: components["schemas"]["Question"][];
            /** Reason */
            reason: string;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "answered" | "expired" | "superseded" | "cancelled";
            /** Tool Call Id */
            tool_call_id: string | null;
            /** Turn Id */
            turn_id: string;
            /**
             * Unknown
             * @description The call was begun before a crash, and nobody knows what came of it
             */
            unknown: boolean;
            /** Value */
            value: unknown;
        };
        /** Begun */
        Begun: {
            /**
             * Csrf
             * @description For the header `X-CSRF-Token` of requests that change something
             */
            csrf: string;
            /** User Id */
            user_id: string;
        };
        /** Branch */
        Branch: {
            /** Turn Id */
            turn_id: string;
        };
        /**
         * CallDeltaEvent
         * @description A piece of the arguments of a tool call that the model is writing, as JSON text. `index` counts the tool calls of the reply from 0. The first piece of a tool call has the `name` of the tool. Nothing runs with this text: `ModelFinished` has the whole arguments.
         */
        CallDeltaEvent: {
            /** Call */
            call: number;
            /** Index */
            index: number;
            /** Name */
            name: string;
            /** Text */
            text: string;
        };
        /**
         * Change
         * @description An artifact that a turn changed.
         */
        Change: {
            /** Id */
            id: string;
            /**
             * Version
             * @description The version that the turn made last
             */
            version: number;
        };
        /** Conversation */
        Conversation: {
            /** Active Turn */
            active_turn: string | null;
            /** Agent */
            agent: string;
            /** Created At */
            created_at: number;
            /** Id */
            id: string;
            /** Message Count */
            message_count: number;
            /**
             * Status
             * @enum {string}
             */
            status: "idle" | "running" | "interrupted";
            /** Title */
            title: string | null;
            /** Updated At */
            updated_at: number;
        };
        /**
         * Edited
         * @description An artifact after an edit. `changes` has the text that was found and replaced.
         */
        Edited: {
            /** Changes */
            changes: string[][];
            /** Content Type */
            content_type: string;
            /** Created At */
            created_at: number;
            /** Id */
            id: string;
            /** Title */
            title: string;
            /**
             * Update Type
             * @enum {string}
             */
            update_type: "create" | "update" | "update_fuzzy" | "rewrite";
            /** Updated At */
            updated_at: number;
            /**
             * Version
             * @description The number of the current version
             */
            version: number;
        };
        /** Entry */
        Entry: {
            /** Created At */
            created_at: number;
            /**
             * Turn Id
             * @description The turn that made it; null if a person did
             */
            turn_id: string | null;
            /**
             * Update Type
             * @description `create`, `update`, `update_fuzzy` or `rewrite`
             */
            update_type: string;
            /** Version */
            version: number;
        };
        /** Error */
        Error: {
            error: components["schemas"]["Fault"];
        };
        /**
         * FailedEvent
         * @description The turn ended in an error; `error_id` is also in the server's log.
         */
        FailedEvent: {
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Code */
            code: string;
            /** Error Id */
            error_id: string | null;
            /** Message */
            message: string;
            /** Retryable */
            retryable: boolean;
        };
        /** Fault */
        Fault: {
            /** Code */
            code: string;
            /**
             * Decision
             * @description What the one who was first decided
             */
            decision?: {
                [key: string]: unknown;
            } | null;
            /**
             * Error Id
             * @description Also in the server's log
             */
            error_id?: string | null;
            /**
             * Fields
             * @description What in the request is wrong
             */
            fields?: string[] | null;
            /**
             * Interrupts
             * @description What waits for an answer
             */
            interrupts?: components["schemas"]["Interrupt"][] | null;
            /** Message */
            message: string;
        };
        /**
         * FeedConversation
         * @description The conversation as it is now. It was created, or something in it has changed.
         */
        FeedConversation: {
            /** Active Turn */
            active_turn: string | null;
            /** Agent */
            agent: string;
            /** Created At */
            created_at: number;
            /** Id */
            id: string;
            /** Message Count */
            message_count: number;
            /**
             * Questions
             * @description How many questions wait in it
             */
            questions: number;
            /**
             * Status
             * @enum {string}
             */
            status: "idle" | "running" | "interrupted";
            /** Title */
            title: string | null;
            /** Updated At */
            updated_at: number;
        };
        /** FeedConversationDeleted */
        FeedConversationDeleted: {
            /** Id */
            id: string;
        };
        /**
         * FeedInbox
         * @description The number of questions that wait has changed.
         */
        FeedInbox: {
            /** Count */
            count: number;
        };
        /**
         * FeedQuestion
         * @description What a list shows of a question. A `description` of more than 2,000 characters is cut.
         */
        FeedQuestion: {
            /** Agent */
            agent: string;
            /** Description */
            description: string;
            /** Expires At */
            expires_at: number | null;
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "approval" | "questions" | "confirmation" | "graph";
            /** Label */
            label: string;
        };
        /** FeedQuestionClosed */
        FeedQuestionClosed: {
            /** Conversation Id */
            conversation_id: string;
            /**
             * Decision
             * @description How it was answered; null if it was not
             */
            decision: ("approve" | "edit" | "reject" | "respond" | "answers" | "fields" | "value") | null;
            /** Interrupt Id */
            interrupt_id: string;
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "answered" | "expired" | "superseded" | "cancelled";
            /** Turn Id */
            turn_id: string;
        };
        /** FeedQuestionOpened */
        FeedQuestionOpened: {
            /** Conversation Id */
            conversation_id: string;
            interrupt: components["schemas"]["FeedQuestion"];
            /** Turn Id */
            turn_id: string;
        };
        /**
         * FeedReady
         * @description The first event. What follows comes after its `id`.
         */
        FeedReady: {
            /**
             * Inbox
             * @description How many questions wait
             */
            inbox: number;
            /**
             * User Id
             * @description Whose feed this is
             */
            user_id: string;
        };
        /**
         * FeedReset
         * @description The cursor is too old, or was lost: load the lists again. The feed goes on from the `id` of this
         *     event.
         */
        FeedReset: Record<string, never>;
        /**
         * File
         * @description What a file holds that an approved call would write.
         */
        File: {
            /**
             * Content
             * @description At most 64 KiB of text; null for anything else
             */
            content: string | null;
            /** Exists */
            exists: boolean;
            /** Path */
            path: string;
            /**
             * Sha256
             * @description Null for a file that does not exist or is very long
             */
            sha256: string | null;
            /** Size */
            size: number;
        };
        /**
         * FinishedEvent
         * @description The agent has finished its reply.
         */
        FinishedEvent: {
            /**
             * At
             * @description The time of the event
             */
            at: number;
        };
        /** FormField */
        FormField: {
            /** Label */
            label: string;
            /** Name */
            name: string;
            /** Options */
            options?: string[];
            /** Required */
            required: boolean;
            /**
             * Type
             * @enum {string}
             */
            type: "text" | "confirm" | "select";
        };
        /** Grant */
        Grant: {
            /**
             * Agent
             * @description The agent to which the tool is allowed
             */
            agent: string;
            /** Granted At */
            granted_at: number;
            /** Tool */
            tool: string;
            /**
             * Turn Id
             * @description The turn in which it was granted
             */
            turn_id: string;
        };
        /** Grants */
        Grants: {
            /** Grants */
            grants: components["schemas"]["Grant"][];
        };
        /**
         * GraphWroteEvent
         * @description An operator's own graph has written this with LangGraph's stream writer. `tasks` are the ids of the graph's tasks that ran then, with commas between, if there were few: one of them wrote it.
         */
        GraphWroteEvent: {
            /** Agent */
            agent: string;
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Parent */
            parent: string | null;
            /** Value */
            value: unknown;
        };
        /** Inbox */
        Inbox: {
            /** Interrupts */
            interrupts: components["schemas"]["Asked"][];
            /**
             * Next
             * @description The cursor of the next page; null after the last one
             */
            next: string | null;
        };
        /** Interrupt */
        Interrupt: {
            /** Agent */
            agent: string;
            /** Args */
            args: {
                [key: string]: unknown;
            };
            /**
             * Changed
             * @description It was approved, but the file had changed since it was shown: nothing was written
             */
            changed: boolean;
            /**
             * Context
             * @description What is to be confirmed: at most 2,000 characters from the end of what the agent said
             */
            context: string;
            /** Decisions */
            decisions: ("approve" | "edit" | "reject" | "respond" | "answers" | "fields" | "value")[];
            /** Description */
            description: string;
            /** Expires At */
            expires_at: number | null;
            /** Fields */
            fields: components["schemas"]["FormField"][];
            /** @description What the file holds now that `write_file` would write */
            file: components["schemas"]["File"] | null;
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "approval" | "questions" | "confirmation" | "graph";
            /** Label */
            label: string;
            /** Name */
            name: string | null;
            /**
             * Note
             * @description What the operator says about the call, if anything; on one line
             */
            note: string;
            /**
             * Parent
             * @description The tool call under which a sub-agent asks
             */
            parent: string | null;
            /** Questions */
            questions: components["schemas"]["Question"][];
            /** Reason */
            reason: string;
            /** Tool Call Id */
            tool_call_id: string | null;
            /**
             * Unknown
             * @description The call was begun before a crash, and nobody knows what came of it
             */
            unknown: boolean;
            /** Value */
            value: unknown;
        };
        /**
         * InterruptClosedEvent
         * @description An interrupt is no longer pending. `message` is passed to the agent as a user message, if present.
         */
        InterruptClosedEvent: {
            /** Answer */
            answer: {
                [key: string]: unknown;
            };
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Id */
            id: string;
            /** Message */
            message: string | null;
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "answered" | "expired" | "superseded" | "cancelled";
        };
        /**
         * InterruptedEvent
         * @description The turn waits for a person. Lists all pending interrupts, including those of earlier segments.
         */
        InterruptedEvent: {
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Interrupts */
            interrupts: components["schemas"]["Interrupt"][];
        };
        /** Me */
        Me: {
            /** User Id */
            user_id: string;
        };
        /**
         * Message
         * @description An unfinished message has a `call`. Append the text of later `text_delta` events with the same `call`
         *     to it.
         */
        Message: {
            /**
             * Agent
             * @default
             */
            agent: string;
            /**
             * Args
             * @description Of a tool's result: the arguments with which it ran, if a person edited them
             */
            args?: {
                [key: string]: unknown;
            } | null;
            /**
             * At
             * @description When it ended; null if that is not known
             */
            at?: number | null;
            /** Call */
            call?: number | null;
            /** Content */
            content: string;
            /**
             * Cut
             * @default false
             */
            cut: boolean;
            /**
             * Ms
             * @description How long a tool call took, or a model thought
             */
            ms?: number | null;
            /** Name */
            name?: string | null;
            /** Parent */
            parent?: string | null;
            /**
             * Reasoning
             * @default
             */
            reasoning: string;
            /**
             * Role
             * @enum {string}
             */
            role: "user" | "assistant" | "tool" | "system";
            /**
             * Status
             * @default ok
             */
            status: string;
            /** Tool Call Id */
            tool_call_id?: string | null;
            /** Tool Calls */
            tool_calls?: {
                [key: string]: unknown;
            }[];
            /** Usage */
            usage?: {
                [key: string]: number;
            } | null;
        };
        /**
         * ModelFinishedEvent
         * @description `kept` are blocks that the provider wants back with this reply as long as the turn lasts. No client is shown them. `thought_ms` is how long the model thought before its first word, if it showed its reasoning and that is known.
         */
        ModelFinishedEvent: {
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Call */
            call: number;
            /** Finish Reason */
            finish_reason: string | null;
            /** Thought Ms */
            thought_ms: number | null;
            /** Tool Calls */
            tool_calls: {
                [key: string]: unknown;
            }[];
            /** Usage */
            usage: {
                [key: string]: number;
            } | null;
        };
        /**
         * ModelStartedEvent
         * @description A model call begins to produce output. `call` numbers the calls of a turn. `parent` is the tool call of a sub-agent. `ref` is the message's name inside a user's own graph, `tasks:id`. `context_from` is the first turn of the conversation that the model is shown, if it is not shown all of them.
         */
        ModelStartedEvent: {
            /** Agent */
            agent: string;
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Call */
            call: number;
            /** Context From */
            context_from: string | null;
            /** Model */
            model: string;
            /** Parent */
            parent: string | null;
            /** Ref */
            ref: string;
        };
        /**
         * NewAnswer
         * @description Which of the other members are used depends on the decision.
         */
        NewAnswer: {
            /**
             * Always Allow
             * @description Allow this tool from now on along the branch
             * @default false
             */
            always_allow: boolean;
            /** Answers */
            answers?: string[];
            /** Args */
            args?: {
                [key: string]: unknown;
            } | null;
            /**
             * Decision
             * @enum {string}
             */
            decision: "approve" | "edit" | "reject" | "respond" | "answers" | "fields" | "value";
            /** Fields */
            fields?: {
                [key: string]: unknown;
            };
            /**
             * Message
             * @default
             */
            message: string;
            /** Value */
            value?: unknown;
        };
        /** NewAnswers */
        NewAnswers: {
            /** Answers */
            answers: {
                [key: string]: components["schemas"]["NewAnswer"];
            };
        };
        /** NewArtifact */
        NewArtifact: {
            /** Content */
            content: string;
            /**
             * Content Type
             * @enum {string}
             */
            content_type: "markdown" | "code" | "text" | "html" | "json" | "csv" | "mermaid";
            /**
             * Id
             * @description Letters, digits, `_`, `-` and `.`, at most 100
             */
            id: string;
            /** Title */
            title: string;
        };
        /** NewConversation */
        NewConversation: {
            /** Agent */
            agent?: string | null;
            /** Title */
            title?: string | null;
        };
        /**
         * NewTurn
         * @description Without `parent` the message continues the active branch. `null` begins a new root. A turn's id
         *     branches there.
         */
        NewTurn: {
            /** Agent */
            agent?: string | null;
            /** Content */
            content: string;
            /**
             * On Disconnect
             * @default continue
             * @enum {string}
             */
            on_disconnect: "continue" | "stop";
            /** Parent */
            parent?: string | null;
            /**
             * Supersede
             * @description Refuse what waits for an answer, and go on
             * @default false
             */
            supersede: boolean;
        };
        /**
         * NewVersion
         * @description Either the whole new `content`, or `old`, a text to replace, and `new`.
         */
        NewVersion: {
            /**
             * Base
             * @description The version that was edited: refuse if it is not current
             */
            base?: number | null;
            /** Content */
            content?: string | null;
            /** New */
            new?: string | null;
            /** Old */
            old?: string | null;
        };
        /**
         * Note
         * @description What happened between messages.
         */
        Note: {
            /**
             * After
             * @description How many messages come before it
             */
            after: number;
            /**
             * Always
             * @description True if the person allowed the tool for the rest of the branch
             */
            always: boolean | null;
            /**
             * Answers
             * @description The questions that were answered
             */
            answers: components["schemas"]["QuestionAnswer"][] | null;
            /**
             * Asked
             * @description The kind of the question for which the turn paused
             */
            asked: string | null;
            /** At */
            at: number | null;
            /** Error Id */
            error_id: string | null;
            /** Interrupt Id */
            interrupt_id: string | null;
            /**
             * Kind
             * @enum {string}
             */
            kind: "pause" | "restart" | "stopped" | "failed";
            /**
             * Message
             * @description What is said about a failure
             */
            message: string | null;
            /**
             * Ms
             * @description How long a pause or an outage took
             */
            ms: number | null;
            /**
             * Outcome
             * @description The decision that ended a pause, or why the turn was stopped or failed
             */
            outcome: string | null;
            /**
             * Tool
             * @description The tool that the question was about
             */
            tool: string | null;
            /** Tool Call Id */
            tool_call_id: string | null;
        };
        /** Option */
        Option: {
            /**
             * Allow Custom
             * @default false
             */
            allow_custom: boolean;
            /** Label */
            label: string;
            /** Value */
            value: string;
        };
        /** Options */
        Options: {
            /**
             * Auth
             * @description `none`: nobody has to sign in
             * @enum {string}
             */
            auth: "password" | "none";
            /**
             * Registration
             * @enum {string}
             */
            registration: "open" | "invite" | "closed";
        };
        /** People */
        People: {
            /**
             * Next
             * @description The cursor of the next page; null after the last one
             */
            next: string | null;
            /** People */
            people: components["schemas"]["Person"][];
        };
        /** Person */
        Person: {
            /**
             * Active At
             * @description When one of their conversations changed last
             */
            active_at: number | null;
            /** Conversations */
            conversations: number;
            /** Created At */
            created_at: number;
            /** Disabled */
            disabled: boolean;
            /** Id */
            id: string;
            /**
             * Input Tokens
             * @description Tokens of all replies, as the providers count them
             */
            input_tokens: number;
            /** Output Tokens */
            output_tokens: number;
            /**
             * Role
             * @enum {string}
             */
            role: "member" | "admin";
            /** Stored Bytes */
            stored_bytes: number;
            /**
             * Subject
             * @description Their id in the service that vouches for them; null without one
             */
            subject: string | null;
            /**
             * Turns
             * @description Messages sent, also in conversations that are deleted
             */
            turns: number;
        };
        /** Question */
        Question: {
            /** Options */
            options?: components["schemas"]["Option"][];
            /** Question */
            question: string;
        };
        /**
         * QuestionAnswer
         * @description A question and the answer to it, in the words in which it was offered.
         */
        QuestionAnswer: {
            /** Answer */
            answer: string;
            /** Question */
            question: string;
        };
        /**
         * Read
         * @description The last turn that was read, and the cursor of the last event in it.
         */
        "Read-Input": {
            /**
             * Cursor
             * @default 0
             */
            cursor: number;
            /** Turn Id */
            turn_id: string;
        };
        /**
         * Read
         * @description Up to where the person has read, on whichever device.
         */
        "Read-Output": {
            /** At */
            at: number;
            /** Cursor */
            cursor: number;
            /** Turn Id */
            turn_id: string;
        };
        /** ReasoningDeltaEvent */
        ReasoningDeltaEvent: {
            /** Call */
            call: number;
            /** Text */
            text: string;
        };
        /** Registered */
        Registered: {
            /** Message */
            message: string;
            /** User Id */
            user_id: string;
        };
        /** Rename */
        Rename: {
            /** Title */
            title: string;
        };
        /**
         * RunStartedEvent
         * @description A segment begins, or (cause `adopt`) another owner, or the same one, continues it after a crash or a failure of the database. With the cause `close` nothing runs: the pending interrupts are closed, because they expired or somebody stopped the turn. All events that follow are written under `epoch`. `version` names what the agent's file said, and is empty if there is no such agent. It has `changed` if the file says something else now than when the turn began.
         */
        RunStartedEvent: {
            /** Agent */
            agent: string;
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /**
             * Cause
             * @enum {string}
             */
            cause: "start" | "resume" | "adopt" | "retry" | "close";
            /** Changed */
            changed: boolean;
            /** Epoch */
            epoch: number;
            /** Segment */
            segment: number;
            /** Version */
            version: string;
        };
        /** RunningTool */
        RunningTool: {
            /** Agent */
            agent: string;
            /** Args */
            args: {
                [key: string]: unknown;
            };
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Parent */
            parent: string | null;
            /**
             * Progress
             * @description What it does now, if it tells
             */
            progress: string | null;
        };
        /**
         * SeenTurn
         * @description A turn with its messages, up to and including the event `cursor`.
         */
        SeenTurn: {
            /** Agent */
            agent: string;
            /**
             * Artifacts
             * @description The artifacts that it changed, in the order in which it first did
             */
            artifacts: components["schemas"]["Change"][];
            /** Content */
            content: string;
            /**
             * Context From
             * @description The first turn of the conversation that this model was shown; null if all
             */
            context_from: string | null;
            /** Conversation Id */
            conversation_id: string;
            /** Created At */
            created_at: number;
            /** Cursor */
            cursor: number;
            /** Demo */
            demo: boolean;
            /** Ended At */
            ended_at: number | null;
            /** Id */
            id: string;
            /** Interrupts */
            interrupts: components["schemas"]["Interrupt"][];
            /** Messages */
            messages: components["schemas"]["Message"][];
            /**
             * Model
             * @description The model of the newest reply; null while there is none
             */
            model: string | null;
            /** Notes */
            notes: components["schemas"]["Note"][];
            /**
             * On Disconnect
             * @enum {string}
             */
            on_disconnect: "continue" | "stop";
            /** Ordinal */
            ordinal: number;
            /** Parent Id */
            parent_id: string | null;
            /** Running Tools */
            running_tools: components["schemas"]["RunningTool"][];
            /** Segment */
            segment: number;
            /**
             * Siblings
             * @description The turns with the same parent, oldest first: at most 100, around this one
             */
            siblings: string[];
            /**
             * Status
             * @enum {string}
             */
            status: "queued" | "running" | "waiting" | "done" | "failed" | "stopped";
            /**
             * Usage
             * @description The tokens of all messages together
             */
            usage: {
                [key: string]: number;
            } | null;
            /** Writing Tools */
            writing_tools: components["schemas"]["WritingTool"][];
        };
        /**
         * SegmentEndedEvent
         * @description Always the last event of a segment, exactly once.
         */
        SegmentEndedEvent: {
            /**
             * At
             * @description The time of the event
             */
            at: number;
        };
        /**
         * Snapshot
         * @description The end of the active branch as it is now, oldest turn first. Later changes are the events after
         *     `cursor` of `turn`, the newest turn here.
         */
        Snapshot: {
            /**
             * Before
             * @description The cursor of the page before this one; null at the beginning
             */
            before: string | null;
            /**
             * Context From
             * @description The first turn that the model sees, by the newest reply here; null if it sees all
             */
            context_from: string | null;
            conversation: components["schemas"]["Conversation"];
            /** Cursor */
            cursor: number;
            /** @description What the person has read last; null if nothing is known */
            read: components["schemas"]["Read-Output"] | null;
            /** Turn */
            turn: string | null;
            /** Turns */
            turns: components["schemas"]["SeenTurn"][];
        };
        /** Stopped */
        Stopped: {
            /** Stopped */
            stopped: boolean;
        };
        /** StoppedEvent */
        StoppedEvent: {
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /**
             * Reason
             * @enum {string}
             */
            reason: "user" | "disconnect" | "superseded" | "timeout";
        };
        /** StreamWanted */
        StreamWanted: {
            /**
             * Stream
             * @description The path of the stream that is to be opened, with the query that names it, if it has one. The server's root path may be left out
             */
            stream: string;
        };
        /** TextDeltaEvent */
        TextDeltaEvent: {
            /** Call */
            call: number;
            /** Text */
            text: string;
        };
        /**
         * TextVoidedEvent
         * @description All output of this call is void, even if the call had finished. The call is repeated under another number.
         */
        TextVoidedEvent: {
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Call */
            call: number;
        };
        /** Ticket */
        Ticket: {
            /**
             * Expires In
             * @description Seconds
             */
            expires_in: number;
            /**
             * Ticket
             * @description For `?ticket=`: good once, for this person and this stream
             */
            ticket: string;
        };
        /** TitleChangedEvent */
        TitleChangedEvent: {
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Title */
            title: string;
        };
        /** Token */
        Token: {
            /** Access Token */
            access_token: string;
            /**
             * Expires In
             * @description Seconds
             */
            expires_in: number;
            /**
             * Token Type
             * @default bearer
             */
            token_type: string;
        };
        /** ToolFinishedEvent */
        ToolFinishedEvent: {
            /** Agent */
            agent: string;
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Output */
            output: string;
            /** Parent */
            parent: string | null;
            /**
             * Status
             * @enum {string}
             */
            status: "ok" | "error" | "refused" | "answered" | "not_done" | "unknown";
        };
        /**
         * ToolProgressEvent
         * @description What a tool call does now, on one line for people. It replaces what the call told before.
         */
        ToolProgressEvent: {
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Id */
            id: string;
            /** Text */
            text: string;
        };
        /** ToolStartedEvent */
        ToolStartedEvent: {
            /** Agent */
            agent: string;
            /** Args */
            args: {
                [key: string]: unknown;
            };
            /**
             * At
             * @description The time of the event
             */
            at: number;
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Parent */
            parent: string | null;
        };
        /**
         * Tree
         * @description A page of a conversation's turns, oldest first.
         */
        Tree: {
            /** Active Turn */
            active_turn: string | null;
            /** Agent */
            agent: string;
            /** Created At */
            created_at: number;
            /** Id */
            id: string;
            /** Message Count */
            message_count: number;
            /**
             * Next
             * @description The cursor of the next page; null after the last one
             */
            next: string | null;
            /**
             * Status
             * @enum {string}
             */
            status: "idle" | "running" | "interrupted";
            /** Title */
            title: string | null;
            /** Turns */
            turns: components["schemas"]["SeenTurn"][];
            /** Updated At */
            updated_at: number;
        };
        /** Turn */
        Turn: {
            /** Agent */
            agent: string;
            /** Content */
            content: string;
            /** Conversation Id */
            conversation_id: string;
            /** Created At */
            created_at: number;
            /** Ended At */
            ended_at: number | null;
            /** Id */
            id: string;
            /**
             * On Disconnect
             * @enum {string}
             */
            on_disconnect: "continue" | "stop";
            /** Ordinal */
            ordinal: number;
            /** Parent Id */
            parent_id: string | null;
            /** Segment */
            segment: number;
            /**
             * Status
             * @enum {string}
             */
            status: "queued" | "running" | "waiting" | "done" | "failed" | "stopped";
        };
        /** Version */
        Version: {
            /**
             * Changes
             * @description Pairs of the text that was replaced and the new one
             */
            changes: string[][];
            /** Content */
            content: string;
            /** Created At */
            created_at: number;
            /**
             * Turn Id
             * @description The turn that made it; null if a person did
             */
            turn_id: string | null;
            /**
             * Update Type
             * @description `create`, `update`, `update_fuzzy` or `rewrite`
             */
            update_type: string;
            /** Version */
            version: number;
        };
        /** WorkspaceFile */
        WorkspaceFile: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "file" | "folder" | "link" | "other";
            /**
             * Modified At
             * @description Milliseconds since 1970
             */
            modified_at: number;
            /**
             * Name
             * @description For people: what cannot be seen or is not text is escaped
             */
            name: string;
            /**
             * Path
             * @description For requests; null if no path can name this entry
             */
            path: string | null;
            /**
             * Size
             * @description The bytes of a file
             */
            size: number | null;
        };
        /** WorkspaceFiles */
        WorkspaceFiles: {
            /** Files */
            files: components["schemas"]["WorkspaceFile"][];
            /**
             * Next
             * @description `cursor` for the next page; null on the last one
             */
            next: string | null;
        };
        /**
         * WritingTool
         * @description A tool call that the model is writing. Append the text of later `call_delta` events with the same
         *     `call` and `index` to its `text`.
         */
        WritingTool: {
            /** Agent */
            agent: string;
            /** Call */
            call: number;
            /** Index */
            index: number;
            /** Name */
            name: string;
            /** Parent */
            parent: string | null;
            /**
             * Text
             * @description Its arguments so far: the beginning of a JSON text
             */
            text: string;
        };
        /**
         * Current
         * @description An artifact with its current version.
         */
        caesura__dialects__native__artifact_replies__Current: {
            /** Changes */
            changes: string[][];
            /** Content */
            content: string;
            /** Content Type */
            content_type: string;
            /** Created At */
            created_at: number;
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Turn Id */
            turn_id: string | null;
            /** Update Type */
            update_type: string;
            /** Updated At */
            updated_at: number;
            /**
             * Version
             * @description The number of the current version
             */
            version: number;
        };
        /** Diff */
        caesura__dialects__native__artifact_replies__Diff: {
            /**
             * From
             * @description 0 is an empty text
             */
            from: number;
            /** Hunks */
            hunks: components["schemas"]["caesura__dialects__native__artifact_replies__Hunk"][];
            /** To */
            to: number;
            /** Unified */
            unified: string;
        };
        /** Hunk */
        caesura__dialects__native__artifact_replies__Hunk: {
            /**
             * Lines
             * @description `[op, text]`. The op `\\` notes that the line before it has no line break at its end
             */
            lines: [
                " " | "-" | "+" | "\\",
                string
            ][];
            /** New Lines */
            new_lines: number;
            /** New Start */
            new_start: number;
            /** Old Lines */
            old_lines: number;
            /** Old Start */
            old_start: number;
        };
        /** Versions */
        caesura__dialects__native__artifact_replies__Versions: {
            /** Versions */
            versions: components["schemas"]["Entry"][];
        };
        /** Conversations */
        caesura__dialects__native__replies__Conversations: {
            /** Conversations */
            conversations: components["schemas"]["Conversation"][];
            /**
             * Next
             * @description The cursor of the next page; null after the last one
             */
            next: string | null;
            /** Total */
            total: number;
        };
        /**
         * Detail
         * @description What went wrong.
         */
        caesura__http__errors__Detail: {
            /** Detail */
            detail: string;
        };
        /** Session */
        caesura__http__sessions__Session: {
            /**
             * Csrf
             * @description For the header `X-CSRF-Token` of requests that change something
             */
            csrf: string;
            /**
             * Expires At
             * @description Milliseconds since 1970; null where nobody has to sign in
             */
            expires_at: number | null;
            /** User Id */
            user_id: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    login_api_auth_login_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** Password */
                    password: string;
                    /** Username */
                    username: string;
                };
                "application/x-www-form-urlencoded": {
                    /** Password */
                    password: string;
                    /** Username */
                    username: string;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
        };
    };
    options_api_auth_options_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Options"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
        };
    };
    register_api_auth_register_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Invite
                     * @description A code, where people register by invite
                     */
                    invite?: string | null;
                    /** Password */
                    password: string;
                    /** Username */
                    username: string;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registered"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
        };
    };
    session_api_auth_session_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__sessions__Session"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
        };
    };
    begin_api_auth_session_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** Password */
                    password: string;
                    /** Username */
                    username: string;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Begun"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
        };
    };
    end_api_auth_session_delete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
        };
    };
    end_all_api_auth_sessions_delete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__http__errors__Detail"];
                };
            };
        };
    };
    agents_api_v2_agents_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agents"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    agents_schema_api_v2_agents_schema_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listing_api_v2_conversations_get: {
        parameters: {
            query?: {
                limit?: number | null;
                cursor?: string | null;
                order?: "updated" | "created";
                /** @description A part of the titles that are wanted */
                query?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__dialects__native__replies__Conversations"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_api_v2_conversations_post: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours the same request under the same key is done once and answered alike */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewConversation"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    tree_api_v2_conversations__conversation_id__get: {
        parameters: {
            query?: {
                limit?: number | null;
                /** @description `next` of the page before this one */
                cursor?: number | null;
            };
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tree"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_api_v2_conversations__conversation_id__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    rename_api_v2_conversations__conversation_id__patch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Rename"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listing_api_v2_conversations__conversation_id__artifacts_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Artifacts"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_api_v2_conversations__conversation_id__artifacts_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewArtifact"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Edited"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    current_api_v2_conversations__conversation_id__artifacts__artifact_id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__dialects__native__artifact_replies__Current"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    content_api_v2_conversations__conversation_id__artifacts__artifact_id__content_get: {
        parameters: {
            query?: {
                /** @description The current version if left out */
                version?: number | null;
            };
            header?: never;
            path: {
                conversation_id: string;
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content, as a file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    diff_api_v2_conversations__conversation_id__artifacts__artifact_id__diff_get: {
        parameters: {
            query?: {
                /** @description The version before `to` if left out; 0 is an empty text */
                from?: number | null;
                /** @description The current version if left out */
                to?: number | null;
            };
            header?: never;
            path: {
                conversation_id: string;
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__dialects__native__artifact_replies__Diff"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    versions_api_v2_conversations__conversation_id__artifacts__artifact_id__versions_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["caesura__dialects__native__artifact_replies__Versions"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    edit_api_v2_conversations__conversation_id__artifacts__artifact_id__versions_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewVersion"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Edited"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    version_api_v2_conversations__conversation_id__artifacts__artifact_id__versions__number__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
                artifact_id: string;
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Version"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    branch_api_v2_conversations__conversation_id__branch_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Branch"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listing_api_v2_conversations__conversation_id__files_get: {
        parameters: {
            query?: {
                /** @description The workspace itself if left out */
                path?: string;
                limit?: number | null;
                cursor?: string | null;
            };
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceFiles"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    download_api_v2_conversations__conversation_id__files__path__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
                /** @description Relative to the workspace: `src/main.py` */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content, as an attachment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    upload_api_v2_conversations__conversation_id__files__path__put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
                /** @description Relative to the workspace: `src/main.py` */
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceFile"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Length Required */
            411: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    remove_api_v2_conversations__conversation_id__files__path__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
                /** @description Relative to the workspace: `src/main.py` */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    grants_api_v2_conversations__conversation_id__grants_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grants"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    revoke_api_v2_conversations__conversation_id__grants__tool__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
                tool: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    mark_read_api_v2_conversations__conversation_id__read_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Read-Input"];
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    snapshot_api_v2_conversations__conversation_id__snapshot_get: {
        parameters: {
            query?: {
                limit?: number | null;
                /** @description `before` of the page that comes after it */
                cursor?: string | null;
            };
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    send_api_v2_conversations__conversation_id__turns_post: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours the same request under the same key is done once and answered alike */
                "Idempotency-Key"?: string | null;
            };
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTurn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_api_v2_feed_get: {
        parameters: {
            query?: {
                /** @description The `id` of the last event that was seen */
                after?: number | null;
                /** @description From `POST /api/v2/stream-ticket` */
                ticket?: string | null;
            };
            header?: {
                "Last-Event-ID"?: number | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events. One event for each change; `id` is its cursor. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        data?: string;
                        /** @constant */
                        event?: "ready";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "reset";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "conversation";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "conversation_deleted";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "question_opened";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "question_closed";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "inbox";
                        id?: string;
                    };
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    inbox_api_v2_interrupts_get: {
        parameters: {
            query?: {
                limit?: number | null;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Inbox"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    interrupt_api_v2_interrupts__interrupt_id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                interrupt_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asked"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    answer_api_v2_interrupts__interrupt_id__answer_post: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours the same request under the same key is done once and answered alike */
                "Idempotency-Key"?: string | null;
            };
            path: {
                interrupt_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAnswer"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    me_api_v2_me_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    people_api_v2_people_get: {
        parameters: {
            query?: {
                limit?: number | null;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["People"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    stream_ticket_api_v2_stream_ticket_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamWanted"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    turn_api_v2_turns__turn_id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                turn_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    answer_all_api_v2_turns__turn_id__answers_post: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours the same request under the same key is done once and answered alike */
                "Idempotency-Key"?: string | null;
            };
            path: {
                turn_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAnswers"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    events_api_v2_turns__turn_id__events_get: {
        parameters: {
            query?: {
                /** @description The `id` of the last event that was seen */
                after?: number | null;
                /** @description From `POST /api/v2/stream-ticket` */
                ticket?: string | null;
            };
            header?: {
                "Last-Event-ID"?: number | null;
            };
            path: {
                turn_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events. One event for each fact; `id` is its cursor. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        data?: string;
                        /** @constant */
                        event?: "run_started";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "model_started";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "text_delta";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "reasoning_delta";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "call_delta";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "text_voided";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "model_finished";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "tool_started";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "tool_progress";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "tool_finished";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "graph_wrote";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "title_changed";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "artifact_changed";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "interrupted";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "interrupt_closed";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "finished";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "failed";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "stopped";
                        id?: string;
                    } | {
                        data?: string;
                        /** @constant */
                        event?: "segment_ended";
                        id?: string;
                    };
                };
            };
            /** @description Everything was sent, and nothing more will come */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    regenerate_api_v2_turns__turn_id__regenerate_post: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours the same request under the same key is done once and answered alike */
                "Idempotency-Key"?: string | null;
            };
            path: {
                turn_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    retry_api_v2_turns__turn_id__retry_post: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours the same request under the same key is done once and answered alike */
                "Idempotency-Key"?: string | null;
            };
            path: {
                turn_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Turn"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    stop_api_v2_turns__turn_id__stop_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                turn_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stopped"];
                };
            };
            /** @description Unauthorized */
            401: {
                headers: {
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            429: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    /** @description Seconds */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
