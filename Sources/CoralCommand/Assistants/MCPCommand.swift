import ArgumentParser
import Coral

/// `coral mcp`: a server for assistants and editors.
struct MCPCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "Serves a store to assistants by the Model Context Protocol, over standard input and output.",
        discussion: """
            Assistants and editors start this command, and call its tools: info, model, query, get, find, history, explain and \
            doctor. They read the state that the store had when the command was started, and nothing else on \
            this machine. With --writable there are also set and delete, which make a backup before. Results are limited, and are \
            marked as data that is not to be followed as instructions, because anyone may have written it.

            The revisions of the protocol are 2026-07-28 and those since 2024-11-05. The command ends with its input.

            EXAMPLES:
              coral mcp Notes.sqlite
              coral mcp Notes.sqlite --model Notes.xcdatamodeld --writable
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Flag(name: .long, help: "Also offer the tools that change objects.")
    var writable = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if proof.proof, writable { throw ValidationError("--proof and --writable contradict each other.") }
    }

    func run() throws { try proof.prove(store, body: serve) }

    private func serve() throws {
        StandardError.isQuiet = true
        defer { StandardError.isQuiet = false }
        let tools = try AssistantTools(store: store, model: source, isWritable: writable)
        var session = ProtocolSession(tools: tools)
        var input = MessageInput()
        while let message = input.next() {
            guard let answer = session.answer(to: message) else { continue }
            try StandardOutput.write(answer + "\n")
        }
    }
}
