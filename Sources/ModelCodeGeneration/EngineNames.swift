/// The engine's types in generated code. A module whose own type has such a name, as `ManagedProperty`, gets the name with the module's.
package struct EngineNames: Sendable {
    private let declared: Set<String>

    /// - Parameter declared: The names of the types of the module for which code is generated.
    package init(besides declared: Set<String>) { self.declared = declared }

    /// The expression for a type of the engine.
    package subscript(_ name: String) -> String { declared.contains(name) ? "CoreData." + name : name }
}
