// swift-tools-version: 6.1
import PackageDescription

// A separate package, so that users of Coral do not build it.
let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v12)],
    traits: [
        .trait(name: "PostgreSQL", description: "The benchmark of stores on a server, which needs libpq."),
        .trait(name: "Macros", description: "The benchmarks of models, which need swift-syntax."),
    ],
    dependencies: [
        .package(
            name: "coral", path: "..",
            traits: [
                .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                .trait(name: "Macros", condition: .when(traits: ["Macros"])),
            ]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.0.0"),
    ],
    targets: [
        // The values of the nine jobs.
        .target(name: "NotesWorkload"),
        // The nine jobs of one workload, written with the public API like a user's program.
        .executableTarget(
            name: "nine-jobs",
            dependencies: [
                "NotesWorkload", .product(name: "CoreData", package: "coral"),
                .product(name: "Coral", package: "coral"),
            ]),
        // The same jobs with `@Model` classes.
        .executableTarget(
            name: "model-jobs",
            dependencies: [
                "NotesWorkload", .product(name: "SwiftData", package: "coral"),
                .product(name: "CoralModels", package: "coral"), .product(name: "Coral", package: "coral"),
            ]),
        // A single access to a property of a model, a translation of a predicate, and the memory of a model.
        .executableTarget(name: "model-access", dependencies: [.product(name: "SwiftData", package: "coral")]),
        // What apps do every day, at growing sizes.
        .executableTarget(
            name: "everyday",
            dependencies: [
                .product(name: "CoreData", package: "coral"), .product(name: "Coral", package: "coral"),
                .product(name: "CoralMigration", package: "coral"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        // Runs programs for `compare`, and measures the time and memory of each.
        .executableTarget(name: "one-run"),
        // Copies graphs of any size: by objects, in batches, by the store, to a new store.
        .executableTarget(
            name: "graph-copies",
            dependencies: [.product(name: "Coral", package: "coral"), .product(name: "CoralTools", package: "coral")]),
        // The single parts of the jobs: predicates, faults, relationships. JSON per byte is `json-parts` of the package itself.
        .executableTarget(
            name: "pure-parts",
            dependencies: [
                .product(name: "CoreData", package: "coral"), .product(name: "Coral", package: "coral"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // The cost of a history: saves with and without it, and reading it, compared with hand-written SQL.
        .executableTarget(
            name: "history",
            dependencies: [
                .product(name: "CoreData", package: "coral"), .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // The cost of a store on a server, compared with one in a file.
        .executableTarget(
            name: "server-store",
            dependencies: [
                .product(name: "CoreData", package: "coral"),
                .product(
                    name: "CoralPostgreSQL", package: "coral", condition: .when(traits: ["PostgreSQL"])),
            ]),
        // The cost of many tenants on a server.
        .executableTarget(
            name: "tenants",
            dependencies: [
                .product(name: "CoreData", package: "coral"),
                .product(
                    name: "CoralPostgreSQL", package: "coral", condition: .when(traits: ["PostgreSQL"])),
            ]),
        // What the numbering of the history costs many writers of one store on a server.
        .executableTarget(
            name: "server-writers",
            dependencies: [
                .product(name: "CoreData", package: "coral"),
                .product(
                    name: "CoralPostgreSQL", package: "coral", condition: .when(traits: ["PostgreSQL"])),
            ]),
        // The cost of a migration in place, compared with the same statements by hand.
        .executableTarget(
            name: "migration",
            dependencies: [
                .product(name: "CoreData", package: "coral"), .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // A single access to a property, by a generated accessor and by key.
        .executableTarget(
            name: "property-access",
            dependencies: [.product(name: "CoreData", package: "coral")],
            plugins: [.plugin(name: "CoralModelPlugin", package: "coral")]),
        // The cost of a fetched results controller at a save.
        .executableTarget(
            name: "fetched-results", dependencies: [.product(name: "CoreData", package: "coral")]),
    ],
    swiftLanguageModes: [.v6]
)
