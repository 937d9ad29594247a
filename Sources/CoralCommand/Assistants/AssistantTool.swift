/// A tool of an assistant: a subcommand, and the arguments that are passed to it.
struct AssistantTool {
    /// How an argument is passed.
    enum Passing {
        /// As `--name=value`.
        case option(String)
        /// As an operand after the store.
        case operand
        /// As operands after the store, one for each element.
        case operands
        /// A number as `--name=value`, at most the limit of objects, which is also the default.
        case limit
    }

    struct Parameter {
        let name: String
        let description: String
        let passing: Passing
        var isRequired = false
    }

    let name: String
    let summary: String
    let command: [String]
    let parameters: [Parameter]
    var isWriting = false

    private static let entity = Parameter(
        name: "entity", description: "The name of an entity.", passing: .option("entity"))
    private static let limit = Parameter(
        name: "limit", description: "The maximum number of objects, at most \(AssistantTools.objectLimit).",
        passing: .limit)
    private static let condition = Parameter(
        name: "where",
        description: "A predicate in Core Data's syntax, such as: title BEGINSWITH[c] \"g\" AND items.@count > 2",
        passing: .option("where"))

    private static func required(_ parameter: Parameter) -> Parameter {
        var parameter = parameter
        parameter.isRequired = true
        return parameter
    }

    static let reading: [AssistantTool] = [
        AssistantTool(
            name: "info",
            summary: "The content of the store: entities with their numbers of objects, sizes and metadata.",
            command: ["info"], parameters: []),
        AssistantTool(
            name: "model", summary: "The model of the store: entities, attributes with their types, relationships.",
            command: ["model", "show"], parameters: [entity]),
        AssistantTool(
            name: "query", summary: "The objects of an entity that match a predicate, with chosen columns.",
            command: ["query"],
            parameters: [
                required(entity), condition,
                Parameter(
                    name: "columns",
                    description: "Key paths separated by commas, such as: title,author.name,items.@count",
                    passing: .option("columns")),
                Parameter(
                    name: "sort", description: "Key paths, such as: rank:descending,title", passing: .option("sort")),
                Parameter(name: "offset", description: "The number of objects to skip.", passing: .option("offset")),
                limit,
            ]),
        AssistantTool(
            name: "get", summary: "One object with all its values, and with the objects around it.", command: ["get"],
            parameters: [
                Parameter(
                    name: "object", description: "The object: its entity and primary key, such as Note/p3, or its URI.",
                    passing: .operand, isRequired: true),
                Parameter(
                    name: "depth", description: "How many relationships away objects are shown.",
                    passing: .option("depth")),
                limit,
            ]),
        AssistantTool(
            name: "find", summary: "The objects of all entities that contain a text.", command: ["find"],
            parameters: [
                Parameter(name: "text", description: "The text.", passing: .operand, isRequired: true), entity, limit,
            ]),
        AssistantTool(
            name: "history", summary: "The transactions in the history of the store, with the changed objects.",
            command: ["history", "show"],
            parameters: [
                Parameter(
                    name: "since", description: "Only after this transaction number or date, such as 2026-01-31.",
                    passing: .option("since")),
                Parameter(name: "author", description: "Only transactions of this author.", passing: .option("author")),
                entity,
            ]),
        AssistantTool(
            name: "explain", summary: "Which version of its model the store has, and its checksum.",
            command: ["explain"],
            parameters: []),
        AssistantTool(
            name: "doctor", summary: "The sizes of tables, and what makes the store large, slow or inconsistent.",
            command: ["doctor"], parameters: []),
    ]

    static let writing: [AssistantTool] = [
        AssistantTool(
            name: "set", summary: "Changes properties of the objects that match a predicate. Makes a backup before.",
            command: ["set", "--yes"],
            parameters: [
                required(entity), required(condition),
                Parameter(
                    name: "assignments", description: "The new values: key=value, with key+=… and key-=… for members.",
                    passing: .operands, isRequired: true),
            ], isWriting: true),
        AssistantTool(
            name: "delete",
            summary: "Deletes the objects that match a predicate, by the delete rules. Makes a backup before.",
            command: ["delete", "--yes"], parameters: [required(entity), required(condition)], isWriting: true),
    ]

    // MARK: - Description

    /// The tool as the protocol describes it.
    var description: JSONValue {
        var properties: [String: JSONValue] = [:]
        for parameter in parameters {
            let text: JSONValue = .string(parameter.description)
            properties[parameter.name] =
                switch parameter.passing {
                case .limit:
                    [
                        "type": "integer", "minimum": 1, "maximum": .integer(Int64(AssistantTools.objectLimit)),
                        "description": text,
                    ]
                case .option("depth"), .option("offset"): ["type": "integer", "minimum": 0, "description": text]
                case .operands: ["type": "array", "items": ["type": "string"], "minItems": 1, "description": text]
                case .option, .operand: ["type": "string", "description": text]
                }
        }
        return [
            "name": .string(name), "description": .string(summary),
            "inputSchema": [
                "type": "object", "properties": .object(properties), "additionalProperties": false,
                "required": .array(parameters.filter(\.isRequired).map { .string($0.name) }),
            ],
            "annotations": [
                "readOnlyHint": .boolean(!isWriting), "destructiveHint": .boolean(isWriting), "openWorldHint": false,
            ],
        ]
    }

    // MARK: - Arguments

    /// The words of the command line for arguments.
    ///
    /// A value is never taken as an option: it is a part of the word of its option, or follows `--`.
    ///
    /// Throws an error of the protocol.
    func words(for arguments: JSONValue) throws -> (options: [String], operands: [String]) {
        func refuse(_ message: String) -> ProtocolSession.Failure { .invalidParameters("\(name): \(message)") }
        guard case .object(let members) = arguments else { throw refuse("arguments is not an object.") }
        let names = Set(parameters.map(\.name))
        if let unknown = members.keys.sorted().first(where: { !names.contains($0) }) {
            throw refuse("There is no argument \"\(unknown.prefix(100))\".")
        }
        var (options, operands): ([String], [String]) = ([], [])
        for parameter in parameters {
            guard let value = members[parameter.name], value != .null else {
                if parameter.isRequired { throw refuse("The argument \(parameter.name) is missing.") }
                if case .limit = parameter.passing { options.append("--limit=\(AssistantTools.objectLimit)") }
                continue
            }
            switch (parameter.passing, value) {
            case (.limit, .integer(let number)) where (1...Int64(AssistantTools.objectLimit)).contains(number):
                options.append("--limit=\(number)")
            case (.option("depth"), .integer(let number)) where (0...10).contains(number):
                options.append("--depth=\(number)")
            case (.option("offset"), .integer(let number)) where number >= 0: options.append("--offset=\(number)")
            case (.option("depth"), _), (.option("offset"), _), (.limit, _):
                throw refuse("The argument \(parameter.name) is out of range, or no integer.")
            case (.option(let option), .string(let text)): options.append("--\(option)=\(text)")
            case (.operand, .string(let text)): operands.append(text)
            case (.operands, .array(let elements)):
                for element in elements {
                    guard let text = element.string else {
                        throw refuse("\(parameter.name) contains another value than texts.")
                    }
                    operands.append(text)
                }
            default: throw refuse("The argument \(parameter.name) has the wrong type.")
            }
        }
        return (options, operands)
    }
}
