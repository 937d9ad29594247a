import ArgumentParser
import Coral
import CoralTools

/// `coral fleet check`: the problems of many stores.
struct FleetCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks each store for problems.",
        discussion: """
            Each store is checked as coral check does, which shows the problems of one store in detail, and repairs them in a \
            copy.

            EXAMPLES:
              coral fleet check tenants.txt
              coral fleet check 'postgresql://db.example.org/app?schema=tenant_*' \\
                --jobs 8 --json
            """)

    @OptionGroup var options: FleetOptions

    @OptionGroup var source: ModelSource

    func run() throws {
        let source = source
        try FleetJob("check", title: "Checking", options).run(on: options.stores()) { store, progress in
            let open: OpenStore
            do {
                open = try OpenStore(path: store, model: source)
            } catch {
                guard let damage = StoreProblem(damage: error) else { throw error }
                return Self.outcome([damage])
            }
            defer { try? open.close() }
            let check = StoreCheck(url: open.url, model: open.model)
            return Self.outcome(try check.problems(of: open.snapshot(), progress: progress))
        }
    }

    private static func outcome(_ problems: [StoreProblem]) -> FleetOutcome {
        let count = problems.reduce(0) { $0 + $1.count }
        let message = problems.isEmpty ? "no problems" : Quantity.count(count, "problem") + ": " + problems[0].message
        var outcome = FleetOutcome(problems.isEmpty ? .done : .findings, message)
        outcome.problems = problems.map { .init(code: $0.code.rawValue, entity: $0.entity, count: $0.count) }
        return outcome
    }
}
