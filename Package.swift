// swift-tools-version: 6.1
import CompilerPluginSupport
import PackageDescription

// Two halves, one package. The toolkit (`Coral`) is written against Core Data's public API. Where Apple's framework
// exists, that is what it runs on; elsewhere the engine (`ManagedObjects`, handed on by the facade `CoreData`) is built.
// Nothing on Apple's platforms may be called `CoreData`: it would shadow the framework.
#if canImport(Darwin)
    let engineIsBuilt = false
#else
    let engineIsBuilt = true
#endif

/// A module of swift-syntax, which takes minutes to build: only who asks for the macros, by the trait, has it.
func syntax(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-syntax", condition: .when(traits: ["Macros"]))
}

// MARK: - Targets, bottom to top

var targets: [Target] = [
    // Files that take their place whole or not at all. Everything above writes its files through it.
    .target(name: "AtomicFiles"),
    // Property lists with UIDs and keyed archives, as plain values: no class is ever instantiated.
    .target(name: "KeyedArchives"),
    // The predicate language: tree, parser, printer, evaluator.
    .target(name: "PredicateLanguage"),
    // DEFLATE, for the model that a store keeps of itself.
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    // Models as plain values, in every form that Apple's tools write. Apart because the build plugin reads models and
    // must not link SQLite.
    .target(name: "ModelFiles", dependencies: ["AtomicFiles", "KeyedArchives", "PredicateLanguage", "CZlib"]),
    // Graph records and the documents they are written to. Knows no objects.
    .target(name: "GraphDocuments", dependencies: ["AtomicFiles", "KeyedArchives"]),
    // A model's entity classes, as Swift text.
    .target(name: "ModelCodeGeneration", dependencies: ["ModelFiles"]),
    // What the build plugin runs: compiles a model and writes its classes. Knows no store.
    .executableTarget(name: "coral-modelc", dependencies: ["ModelFiles", "ModelCodeGeneration"]),
    .plugin(name: "CoralModelPlugin", capability: .buildTool(), dependencies: ["coral-modelc"]),
    // The macros for hand-written classes, of entities and of plain objects: what the compiler runs, and their
    // declarations. Empty without the trait.
    .macro(
        name: "ManagedMacroExpansion",
        dependencies: ["SwiftSyntax", "SwiftSyntaxMacros", "SwiftCompilerPlugin"].map(syntax)),
    .target(
        name: "ManagedMacros",
        dependencies: ["ManagedMacroExpansion", .target(name: "Coral", condition: .when(traits: ["Macros"]))]),
]

var products: [Product] = [
    .plugin(name: "CoralModelPlugin", targets: ["CoralModelPlugin"]),
    .executable(name: "coral-modelc", targets: ["coral-modelc"]),
    .library(name: "ManagedMacros", targets: ["ManagedMacros"]),
]

if engineIsBuilt {
    targets += [
        // Every public NS… type and the live engine.
        .target(
            name: "ManagedObjects",
            dependencies: [
                "AtomicFiles", "KeyedArchives", "PredicateLanguage", "ModelFiles",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        // What `import CoreData` means off Apple's platforms.
        .target(name: "CoreData", dependencies: ["ManagedObjects"]),
    ]
    products += [.library(name: "CoreData", targets: ["CoreData"])]
}

/// Core Data itself: the framework where there is one, else our facade.
let coreData: [Target.Dependency] = engineIsBuilt ? ["CoreData"] : []
/// What lies beneath the facade, for the few files that take a shorter way there.
let engine: [Target.Dependency] = engineIsBuilt ? ["ManagedObjects"] : []

targets += [
    // The toolkit, on Core Data's public API.
    .target(
        name: "Coral",
        dependencies: coreData + engine + ["AtomicFiles", "GraphDocuments", "KeyedArchives", "ModelFiles"]),
    // Random graphs of any model, and what must be true of them: for the tests of those who use the toolkit.
    .target(name: "CoralTesting", dependencies: ["Coral"]),
    // The command `coral`. Named apart from the library by more than case, which macOS would not tell apart.
    .executableTarget(
        name: "CoralCommand",
        dependencies: [
            "AtomicFiles", "Coral", "PredicateLanguage", "ModelFiles", "ModelCodeGeneration",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]),
]
products += [
    .library(name: "Coral", targets: ["Coral"]),
    .library(name: "CoralTesting", targets: ["CoralTesting"]),
    .executable(name: "coral", targets: ["CoralCommand"]),
]

// MARK: - Examples

targets += [
    .target(name: "NotesModel", dependencies: coreData, path: "Examples/NotesModel"),
    // Makes the store of the demonstration.
    .executableTarget(
        name: "MakeExampleStore", dependencies: coreData + ["NotesModel"], path: "Examples/MakeExampleStore"),
    // A Core Data program as any tutorial has it: without the toolkit.
    .executableTarget(
        name: "Notes", dependencies: coreData + ["NotesModel"], path: "Examples/Notes", exclude: ["expected.txt"]),
]

/// One small program for each job of the toolkit. `Scripts/check-examples` compares what they print.
let exampleNames = [
    "FirstQuestions", "SerialiseNotes", "ImportNotes", "CopyNotes", "RememberNotes", "ChangeInPlace", "ShareSubset",
    "OpenWithoutModel",
]
targets += exampleNames.map { name in
    .executableTarget(
        name: name, dependencies: ["Coral", "NotesModel"], path: "Examples/\(name)", exclude: ["expected.txt"])
}

// MARK: - Tests

targets += [
    .testTarget(name: "KeyedArchivesTests", dependencies: ["KeyedArchives"]),
    .testTarget(name: "PredicateLanguageTests", dependencies: ["PredicateLanguage"]),
    .testTarget(name: "ModelFilesTests", dependencies: ["ModelFiles", "KeyedArchives"]),
    .testTarget(name: "GraphDocumentsTests", dependencies: ["AtomicFiles", "GraphDocuments", "KeyedArchives"]),
    .testTarget(name: "ModelCodeGenerationTests", dependencies: ["ModelCodeGeneration", "ModelFiles"]),
    .testTarget(
        name: "CoralTests",
        dependencies: ["Coral", "CoralTesting", "NotesModel"]
            + (engineIsBuilt ? [.product(name: "GRDB", package: "GRDB.swift")] : [])),
    .testTarget(
        name: "CoralCommandTests",
        dependencies: [
            "Coral", "CoralCommand", "NotesModel", "ChildProcesses", .product(name: "GRDB", package: "GRDB.swift"),
        ]),
    // What tests start programs with.
    .target(name: "ChildProcesses", path: "Tests/ChildProcesses"),
]

if engineIsBuilt {
    targets += [
        .testTarget(
            name: "ManagedObjectsTests",
            dependencies: ["AtomicFiles", "ManagedObjects", .product(name: "GRDB", package: "GRDB.swift")]),
        // Core Data and nothing of ours, so that the same tests run on Apple's framework.
        .testTarget(name: "ParityTests", dependencies: ["CoreData"]),
        // Files that Apple's tools wrote.
        .testTarget(
            name: "CorpusTests", dependencies: ["Coral", .product(name: "GRDB", package: "GRDB.swift")]),
        // How many allocations operations take, counted in a process of its own that has malloc replaced. Its test starts
        // the program and does not depend on it, or all tests would have malloc replaced.
        .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
        .executableTarget(
            name: "allocation-counts",
            dependencies: ["Coral", "CoreData", "AllocationCounter", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Tests/AllocationCounts"),
        .testTarget(
            name: "AllocationTests", dependencies: ["ChildProcesses"], exclude: ["allocations.txt"]),
    ]
}

// A test target that links a macro has SwiftPM compile the whole package a second time, for the host. So the tests of the
// macros stand alone, where they are asked for: `Scripts/test-packages` sets the variable.
if Context.environment["CORAL_TEST_MACROS"] != nil {
    targets.removeAll { $0.type == .test }
    targets.append(
        .testTarget(
            name: "ManagedMacrosTests",
            dependencies: ["ManagedMacroExpansion"] + ["SwiftSyntax", "SwiftSyntaxMacrosTestSupport"].map(syntax)))
}

let package = Package(
    name: "coral",
    platforms: [.macOS(.v12), .iOS(.v15), .tvOS(.v15), .watchOS(.v8)],
    products: products,
    traits: [.trait(name: "Macros", description: "The macros of ManagedMacros, which need swift-syntax.")],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"604.0.0"),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)
